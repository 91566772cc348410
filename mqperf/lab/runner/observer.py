"""Observers of the progress of a sweep: a progress bar, a notebook, or none."""

from collections.abc import Sequence
from typing import Protocol

from mqperf.lab.runner.gauge import Gauge
from mqperf.plan import Case
from mqperf.record import Run


class Observer(Protocol):
    """Callbacks for progress; they must return at once, even inside the measured window."""

    def planned(self, todo: Sequence[Case], done: int, starts: int) -> None:
        """Called before anything starts: cases to run, cases done already, starts of systems."""

    def doing(self, what: str, case: Case | None = None) -> None:
        """A new phase of the system, or of a case, begins."""

    def watching(self, case: Case, gauge: Gauge | None) -> None:
        """The load of a case has started and can be read by ``gauge``; with None it has ended."""

    def finished(self, case: Case, _run: Run, failure: str | None) -> None:
        """A case has ended with a whole run, or with a failed one and the reason."""


class Silent:
    """An observer that ignores everything."""

    def planned(self, todo: Sequence[Case], done: int, starts: int) -> None:
        """Ignore it."""

    def doing(self, what: str, case: Case | None = None) -> None:
        """Ignore it."""

    def watching(self, case: Case, gauge: Gauge | None) -> None:
        """Ignore it."""

    def finished(self, case: Case, _run: Run, failure: str | None) -> None:
        """Ignore it."""

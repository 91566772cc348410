"""Who wants to know how a sweep is getting on: a progress bar, a notebook, nobody."""

from collections.abc import Sequence
from typing import Protocol

from mqperf.lab.runner.gauge import Gauge
from mqperf.plan import Case
from mqperf.record import Run


class Observer(Protocol):
    """Told what happens; must return at once, since it is called inside the measured window."""

    def planned(self, todo: Sequence[Case], done: int, starts: int) -> None:
        """Before anything starts: what is to run, cases done already, starts of systems to come."""

    def doing(self, what: str, case: Case | None = None) -> None:
        """A new phase begins: of the system, or of a case."""

    def watching(self, case: Case, gauge: Gauge | None) -> None:
        """The load of a case has started, and can be looked at; with None, no longer."""

    def finished(self, case: Case, _run: Run, failure: str | None) -> None:
        """A case has a whole run, or a failed one with the reason."""


class Silent:
    """Tells nobody."""

    def planned(self, todo: Sequence[Case], done: int, starts: int) -> None:
        """Ignore it."""

    def doing(self, what: str, case: Case | None = None) -> None:
        """Ignore it."""

    def watching(self, case: Case, gauge: Gauge | None) -> None:
        """Ignore it."""

    def finished(self, case: Case, _run: Run, failure: str | None) -> None:
        """Ignore it."""

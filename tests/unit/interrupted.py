"""A person at Ctrl-C while a plan runs."""

from typing_extensions import override

from mqperf.lab.runner import Silent
from mqperf.plan import Case
from mqperf.record import Run


class Interrupted(Silent):
    """Ctrl-C after so many runs; without a number, never.  Keeps what it was told."""

    def __init__(self, after: int = -1) -> None:
        self.left, self.told, self.failed = after, list[str](), list[str]()

    @override
    def doing(self, what: str, case: Case | None = None) -> None:
        if case is None:
            self.told.append(what)

    @override
    def finished(self, case: Case, _run: Run, failure: str | None) -> None:
        self.failed += [case.id] if failure is not None else []
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt

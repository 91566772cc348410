"""An observer that interrupts a plan as Ctrl-C does."""

from typing_extensions import override

from mqperf.lab.runner import Silent
from mqperf.plan import Case
from mqperf.record import Run


class Interrupted(Silent):
    """Raises KeyboardInterrupt after ``after`` runs (never by default); keeps all status lines."""

    def __init__(self, after: int = -1) -> None:
        self.left, self.lines, self.failed = after, list[str](), list[str]()

    @override
    def doing(self, what: str, case: Case | None = None) -> None:
        if case is None:
            self.lines.append(what)

    @override
    def finished(self, case: Case, _run: Run, failure: str | None) -> None:
        self.failed += [case.id] if failure is not None else []
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt

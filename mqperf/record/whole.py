"""What a whole run must have recorded before any number is made of it."""

from dataclasses import dataclass

from mqperf.errors import RecordError
from mqperf.plan import Case
from mqperf.record.facts import Facts
from mqperf.record.folder import FACTS, Run
from mqperf.record.instants import utc


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
    """A run whose facts suffice to read its numbers; instants are epoch seconds."""

    run: Run
    facts: Facts
    case: Case
    window: tuple[float, float]

    @property
    def load(self) -> tuple[float, float]:
        """From the agreed start to the end of the load."""
        return self.window[0] - self.case.warmup_s, self.window[1] + self.case.cooldown_s

    @property
    def clock_offset_s(self) -> float:
        """By how much the clocks of the run's hosts may differ."""
        return self.facts.clock_offset_s or 0.0


def whole(run: Run, facts: Facts) -> Whole:
    """The run, if it is a whole one.

    Raises ``RecordError`` for an attempt that failed, and for facts that are missing or do not
    belong together.
    """
    file = run.path / FACTS
    if run.status != "done":
        raise RecordError(f"{run.path}: not a whole run: {facts.failure or run.status}")
    if facts.case is None or facts.window is None or not facts.processes:
        names = ("case", "window", "processes")
        missing = [name for name in names if not getattr(facts, name)]
        raise RecordError(f"{file}: {', '.join(missing)}: not recorded")
    found = Whole(run, facts, facts.case, (facts.window.start, facts.window.end))
    _check_start(found)
    _check_processes(found)
    return found


def _check_start(found: Whole) -> None:
    started, begin = found.facts.started, found.load[0]
    if started is not None and started != utc(begin):
        raise RecordError(
            f"{found.run.path / FACTS}: window.start: the load that began at {utc(begin)} is said"
            f" to have started at {started}"
        )


def _check_processes(found: Whole) -> None:
    pairs = found.case.processes * found.case.hosts
    for kind in ("client", "server"):
        number = sum(process.kind == kind for process in found.facts.processes)
        if number != pairs:
            raise RecordError(
                f"{found.run.path / FACTS}: processes: {number} of kind {kind}, the case has"
                f" {pairs}"
            )

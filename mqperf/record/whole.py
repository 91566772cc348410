"""Whole runs: the checks that facts must pass before any number is computed from them."""

import math
from dataclasses import dataclass
from numbers import Real
from pathlib import Path

from mqperf.base.errors import RecordError
from mqperf.plan import Case
from mqperf.plan.pace import CYCLE, LATE, PROFILE, RAMP
from mqperf.record.facts import ClockFacts, Facts
from mqperf.record.folder import FACTS, Run
from mqperf.record.instants import utc


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
    """A run whose facts are complete enough to read its numbers; instants are epoch seconds.

    A background load of a run is one, too, with its own case, facts and folder.
    """

    run: Run
    facts: Facts
    case: Case
    window: tuple[float, float]
    place: str = "load"

    @property
    def folder(self) -> Path:
        """The folder with the output of its load generator."""
        return self.run.path / self.place

    @property
    def load(self) -> tuple[float, float]:
        """The agreed start and the end of the load, a whole number of seconds apart."""
        start = self.window[0] - self.case.warmup_s
        if (sent := self.facts.all_sent) is not None:
            return start, max(self.window[1], start + math.ceil(sent.last_s))
        return start, self.window[1] + self.case.cooldown_s

    @property
    def steady(self) -> tuple[float, float] | None:
        """The span in which throughput may be steady, a whole number of seconds.

        It is from the start of the load to the first action, or to the end of the window; None
        where the plan changes the rate, or starts consumers late.
        """
        if any(self.case.parameters.get(name) is not None for name in (RAMP, CYCLE, PROFILE, LATE)):
            return None
        firsts = [self.window[0] + math.floor(action.at_s) for action in self.case.actions]
        return self.load[0], min([self.window[1], *firsts])

    @property
    def window_in_load(self) -> tuple[float, float]:
        """The window in seconds since the start of the load."""
        start, _ = self.load
        return self.window[0] - start, self.window[1] - start

    def host_of(self, label: str) -> str | None:
        """Return the host of a load process; None where it is not recorded: there is only one."""
        return next(process.host for process in self.facts.processes if process.label == label)

    def clock(self, host: str | None) -> ClockFacts:
        """Return the clock of a host, see ``Facts.clock``."""
        return self.facts.clock(host)

    def began(self, label: str) -> float:
        """Return the start of the load by the clock of a process's host, as compared before it."""
        return self.load[0] + self.facts.compared(self.host_of(label)).before.offset_s


def as_whole(run: Run, facts: Facts) -> Whole:
    """Return the run as a whole one.

    Raises ``RecordError`` for an attempt that failed, and for facts that are missing or contradict
    each other.
    """
    file = run.path / FACTS
    if run.status != "done":
        raise RecordError(f"{run.path}: not a whole run: {facts.failure or run.status}")
    if facts.case is None or facts.window is None or not facts.processes:
        names = ("case", "window", "processes")
        missing = [name for name in names if not getattr(facts, name)]
        raise RecordError(f"{file}: {', '.join(missing)}: not recorded")
    whole_run = Whole(run, facts, facts.case, (facts.window.start, facts.window.end))
    _check_start(whole_run)
    _check_parameters(whole_run)
    _check_clocks(whole_run)
    return whole_run


def beside(run: Whole) -> list[Whole]:
    """Return the background loads of a run, each as a run of its own.

    Raises ``RecordError`` when the facts do not fit the case.
    """
    cases, facts = run.case.beside(), run.facts.background
    if len(cases) != len(facts):
        raise RecordError(
            f"{run.run.path / FACTS}: background: {len(facts)} loads recorded, the case has"
            f" {len(cases)}"
        )
    loads = []
    for number, (case, recorded) in enumerate(zip(cases, facts, strict=True), 1):
        update = {name: getattr(recorded, name) for name in type(recorded).model_fields}
        load_facts = run.facts.model_copy(update={**update, "case": case, "background": ()})
        load = Whole(run.run, load_facts, case, run.window, background_place(number))
        _check_start(load)
        _check_parameters(load)
        loads.append(load)
    return loads


def background_place(number: int) -> str:
    """Return the subfolder of a run for the background load ``number``, counted from 1."""
    return f"background/{number}"


def _check_start(run: Whole) -> None:
    started, begin = run.facts.started, run.load[0]
    if started is not None and started != utc(begin):
        raise RecordError(
            f"{run.run.path / FACTS}: window.start: the load that began at {utc(begin)} is said"
            f" to have started at {started}"
        )


def _check_parameters(run: Whole) -> None:
    """Check that numbers and texts in the case are those that the generator was given."""
    for name, value in run.case.parameters.items():
        used = run.facts.parameters.get(name)
        comparable = any(isinstance(value, kind) and isinstance(used, kind) for kind in (Real, str))
        if comparable and used != value:
            raise RecordError(
                f"{run.run.path / FACTS}: parameters.{name}: {used} recorded, the case has {value}"
            )


def _check_clocks(run: Whole) -> None:
    """With several hosts, each clock must have been compared before and after the load."""
    facts = run.facts
    hosts = {host.label for host in facts.hosts if host.label is not None}
    if len(hosts) < 2:
        return
    hosts |= {process.host for process in facts.processes if process.host is not None}
    for host in sorted(hosts):
        clock = facts.clocks.get(host)
        if clock is None or clock.after is None:
            when = "before" if clock is None else "after"
            raise RecordError(
                f"{run.run.path / FACTS}: clocks: the clock of host {host} was not compared"
                f" {when} the load"
            )

"""The phases of a trial, each an object whose method returns the next one.

    begin ─► Prepared ─ agree ─► Agreed ─ measure ─► Measured ─ drain, conclude ─► Run
        └──► Spoiled ── agree ─► raises the error of the preparation

``begin`` starts processes and does not wait for them, so that a sweep prepares the next case while
the current one drains, and lets it warm up while the current one is concluded; an error in this
preparation is kept until it is the turn of the case to be measured.
In every phase the trial can be ended by ``fail``, ``interrupt`` or ``discard`` instead.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mqperf.base.errors import MqperfError
from mqperf.lab.load import Access
from mqperf.lab.runner import counted
from mqperf.lab.runner.bench import Bench
from mqperf.lab.runner.control import controlled, next_start
from mqperf.lab.runner.failing import FailCondition, shortened
from mqperf.lab.runner.gauge import Gauge
from mqperf.lab.runner.interrupts import interrupts_first
from mqperf.lab.runner.linking import Linked, linked
from mqperf.lab.runner.loads import Load, Started
from mqperf.lab.runner.outputs import gathered
from mqperf.lab.runner.schedule import Schedule
from mqperf.lab.runner.trial import Audience, Trial
from mqperf.plan import AFTER_S, COUNT, Case, offered_msg_s
from mqperf.plan.load import GENERATORS
from mqperf.record import Run

READY_TIMEOUT_S = 90
EXIT_MARGIN_S = 20


@dataclass(frozen=True, slots=True)
class Loaded:
    """A trial whose loads were started."""

    trial: Trial
    load: Started
    beside: tuple[Started, ...]
    link: Linked | None


@dataclass(frozen=True, slots=True)
class Scheduled(Loaded):
    """A trial whose schedule is agreed."""

    schedule: Schedule


@dataclass(frozen=True, slots=True)
class Measured(Scheduled):
    """A trial whose window has ended; clients and servers are still running."""

    def drain(self) -> None:
        """Wait for the clients and probes, and then until the servers have received everything."""
        trial = self.trial
        trial.audience.phase("draining")
        trial.audience.watching(None)
        trial.freezes.check()
        probes = [label for probing in trial.probing for label in probing.labels]
        trial.attempt.event("drained", **self._drain(self.load, self.schedule.end, probes))

    def conclude(self) -> Run:
        """After ``drain``: stop the servers, check the output, and seal the run folder."""
        trial = self.trial
        self._cut()
        trial.clocks.measure_after()
        self._stop(self.load)
        trial.attempt.event("stopped")
        for number, started in enumerate(self.beside, 1):
            counts = self._drain(started, self.schedule.end + AFTER_S)
            trial.attempt.event("background-drained", number=number, **counts)
            self._stop(started)
        if self.link is not None:
            self.link.measure("after")
        trial.freezes.check()
        trial.fetch()
        self._judge()
        trial.describe()
        return trial.attempt.finish()

    def _cut(self) -> None:
        """Cut the window of a load with a message count to the seconds in which it was sending."""
        trial = self.trial
        load, schedule = self.load, self.schedule
        sent = counted.all_sent(load.load, load.control, schedule, trial.clocks.before)
        if sent is not None:
            trial.attempt.facts["all_sent"] = sent.model_dump()
            trial.attempt.event("all-sent", **sent.model_dump())
            trial.schedule = counted.cut(schedule, sent, trial.case)

    def _drain(self, started: Started, end: float, probes: Sequence[str] = ()) -> dict[str, int]:
        """Wait for the clients of a load, then its servers; return counts of sent and received."""
        load, trial = started.load, self.trial
        limit = end + load.case.timeout_s + EXIT_MARGIN_S
        load.await_sent(started.control, limit)
        trial.processes.await_exit(probes, limit)
        load.fetch()
        load.check_answers()
        return load.drain(started.control, trial.bench.deployment.check)

    def _stop(self, started: Started) -> None:
        started.control.stop()
        load = started.load
        names = [*load.names("server"), *load.names("client")]
        self.trial.processes.await_exit(names, time.time() + EXIT_MARGIN_S)

    def _judge(self) -> None:
        for started in (self.load, *self.beside):
            started.load.judge()
        for probing in self.trial.probing:
            probing.judge()


@dataclass(frozen=True, slots=True)
class Agreed(Scheduled):
    """A trial whose processes all know the start time."""

    def agree(self) -> "Agreed":
        """Return itself."""
        return self

    def measure(self) -> Measured:
        """Wait until the window ends, and act on the timetable meanwhile."""
        trial, schedule = self.trial, self.schedule
        trial.audience.phase("warming up")
        gauge = Gauge(self.load.load, self.load.control, trial.probing, schedule)
        trial.held.callback(trial.audience.watching, None)
        trial.audience.watching(gauge)
        trial.timetable.sign = partial(self.load.control.sign, trial.clocks.before)
        trial.timetable.begin(schedule.window_start)
        self._sleep_until(schedule.window_start)
        trial.audience.phase("measuring")
        schedule = self._watch_window(schedule, gauge)
        self._sleep_until(min(schedule.window_end, schedule.end))
        trial.attempt.event("measured")
        return Measured(trial, self.load, self.beside, self.link, schedule)

    def _watch_window(self, schedule: Schedule, gauge: Gauge) -> Schedule:
        """Watch the window of a run that may end early; return its schedule, shortened if it does.

        For other runs this returns at once.  An early end is set late enough for all processes to
        learn of it.
        """
        trial, case = self.trial, self.trial.case
        if case.fail_when is None and case.parameters.get(COUNT) is None:
            return schedule
        condition = FailCondition(case.fail_when, _offered(case)) if case.fail_when else None
        for instant in range(case.duration_s):
            self._sleep_until(schedule.window_start + instant)
            if (earlier := self._early_end(schedule, condition, gauge)) is not None:
                self.load.control.end(earlier.end, trial.clocks.before)
                trial.schedule = earlier
                trial.audience.phase("ending early")
                return earlier
        return schedule

    def _early_end(
        self, schedule: Schedule, condition: FailCondition | None, gauge: Gauge
    ) -> Schedule | None:
        """Return the schedule of a run that has failed, or has sent all; None if it continues."""
        trial, load = self.trial, self.load
        clocks = trial.clocks.before
        if counted.all_sent(load.load, load.control, schedule, clocks) is not None:
            return counted.ended(schedule)
        if condition is None or (failed := condition.see(gauge.glance())) is None:
            return None
        trial.attempt.facts["condition_failed"] = failed
        trial.attempt.event("condition-failed", **failed)
        return shortened(schedule, failed["at_s"], trial.case)

    def _sleep_until(self, instant: float) -> None:
        """Sleep, act on the timetable, and check that all processes run until the instant."""
        timetable = self.trial.timetable
        while time.time() < instant:
            self.trial.processes.check_running()
            timetable.act()
            remaining_s = min(instant, timetable.due) - time.time()
            time.sleep(max(0.0, min(1.0, remaining_s)))
        timetable.act()


@dataclass(frozen=True, slots=True)
class Prepared(Loaded):
    """A trial with access to the system, whose processes are starting."""

    @property
    def ready(self) -> bool:
        """Whether every process has reported that it is ready."""
        return not any(started.control.missing(labels) for started, labels in self._all_labels())

    def agree(self, earliest: float = 0.0) -> Agreed:
        """Wait for all processes and set the start; the window begins at ``earliest`` or later.

        With ``earliest`` another trial is running, of which the audience is informed instead.
        """
        trial = self.trial
        if not earliest:
            trial.audience.phase("getting ready")
        for started, labels in self._all_labels():
            started.control.await_ready(labels, READY_TIMEOUT_S, trial.processes.check_running)
        if self.link is not None:
            self.link.measure("before")
        trial.held.callback(trial.timetable.close)
        trial.timetable.prepare()
        trial.freezes.seen.clear()
        trial.clocks.measure_before()
        schedule = self._start(earliest)
        trial.attempt.event("start", start=schedule.start)
        return Agreed(trial, self.load, self.beside, self.link, schedule)

    def _all_labels(self) -> Iterator[tuple[Started, list[str]]]:
        """Yield background loads, then the measured one, with labels of processes and probes."""
        probes = [label for probing in self.trial.probing for label in probing.labels]
        for started in (*self.beside, self.load):
            labels = [command.label for command in started.load.commands]
            yield started, labels + (probes if started is self.load else [])

    def _start(self, earliest: float) -> Schedule:
        """Write the start of every load to its processes, and return the schedule."""
        case = self.trial.case
        first = next_start(earliest - Schedule.from_start(0, case).window_start)
        schedule = self.trial.schedule = Schedule.from_start(first, case)
        clocks = self.trial.clocks.before
        for started in self.beside:
            started.control.start(schedule.background, clocks)
        self.load.control.start(schedule.start, clocks)
        return schedule


def _offered(case: Case) -> float | None:
    """Return the planned deliveries per second; None where clients send as fast as they can."""
    rate = offered_msg_s(case.parameters, case.threads)
    return None if rate is None else rate * GENERATORS[case.generator].copies(case)


@dataclass(frozen=True, slots=True)
class Spoiled:
    """A trial that could not be prepared."""

    trial: Trial
    error: MqperfError

    def agree(self) -> Agreed:
        """Raise the error of the preparation, now that it is this trial's turn."""
        raise self.error


Begun = Prepared | Agreed | Spoiled


def begin(case: Case, position: int, runs: Path, bench: Bench, audience: Audience) -> Begun:
    """Start the processes of a case; raises ``RecordError`` when its folder cannot be created."""
    trial = Trial(case, position, runs, bench, audience)
    try:
        with interrupts_first():
            return _prepared(trial)
    except MqperfError as error:
        return Spoiled(trial, error)
    except BaseException:
        trial.discard()
        raise


def _prepared(trial: Trial) -> Prepared:
    """Create the link, provision the system, and start load generators and probes."""
    bench, case = trial.bench, trial.case
    link = trial.held.enter_context(linked(case.link, bench.hosts, trial.attempt.facts))
    trial.take(link)
    loads = (trial.load, *trial.beside)
    controls = [trial.held.enter_context(controlled(bench.hosts.every)) for _ in loads]
    outputs = [trial.held.enter_context(gathered(bench.hosts.every, load.out)) for load in loads]
    accesses = [_provisioned(trial, load) for load in loads]
    _describe(trial, accesses[0])
    trial.held.callback(trial.processes.stop)
    hosts = bench.hosts.with_clients(case.hosts)
    for load, access, control, out in zip(loads, accesses, controls, outputs, strict=True):
        load.start(bench, access, hosts, control, out)
    for probing in trial.probing:
        output = trial.held.enter_context(probing.host.output(probing.folder))
        probing.start(bench.deployment.nodes, loads, controls[0], case.load_s, output)
    trial.attempt.event("started", processes=trial.processes.labels)
    measured, *beside = map(Started, loads, controls)
    return Prepared(trial, measured, tuple(beside), link)


def _provisioned(trial: Trial, load: Load) -> Access:
    """Return the access of a load to the system, which is removed at the end."""
    access = trial.bench.deployment.provision(load.case, load.key)
    trial.timetable.addresses |= {*access.client.addresses, *access.server.addresses}
    trial.held.callback(trial.clean_up, load)
    return access


def _describe(trial: Trial, access: Access) -> None:
    """Record the facts that are known before anything runs."""
    incidents = trial.bench.facts["system"].get("incidents", [])
    trial.attempt.event("provisioned", **({"incidents": incidents} if incidents else {}))
    load = trial.load
    trial.attempt.facts["generator_options"] = load.launcher.options(
        trial.case, access, trial.bench.hosts.client[0].address
    )

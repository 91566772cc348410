"""The phases of a trial, each an object that gives the next one.

    begin ─► Prepared ── measure ─► Measured ── conclude ─► Run
        └──► Spoiled ─── measure ─► raises what was in the way

``begin`` starts processes and does not wait for them, so that a sweep prepares the next case while
the present one drains; what goes wrong meanwhile is kept until the case's own turn to be measured.
From every phase the trial can be ended by ``fail``, ``interrupt`` or ``discard`` instead.
"""

import time
from dataclasses import dataclass
from pathlib import Path

from mqperf.errors import MqperfError
from mqperf.load import Access, Job
from mqperf.plan import Case
from mqperf.record import Run
from mqperf.runner.bench import Bench
from mqperf.runner.control import Control, controlled
from mqperf.runner.linking import Linked, linked
from mqperf.runner.schedule import Schedule
from mqperf.runner.trial import Tell, Trial

READY_TIMEOUT_S = 90
EXIT_MARGIN_S = 20


@dataclass(frozen=True, slots=True)
class Measured:
    """A trial whose window has ended; clients and servers still run."""

    trial: Trial
    control: Control
    link: Linked | None
    schedule: Schedule

    def conclude(self) -> Run:
        """Drain, stop the servers, judge what was left, and seal the run folder."""
        trial, load = self.trial, self.trial.load
        trial.tell("draining")
        trial.stillness.check()
        limit = self.schedule.end + trial.case.timeout_s + EXIT_MARGIN_S
        probes = [label for probing in trial.probing for label in probing.labels]
        trial.processes.await_exit([*load.labels("client"), *probes], limit)
        load.check_answers()
        sent, received = load.drain(self.control, trial.bench.deployment.check)
        trial.attempt.event("drained", sent=sent, received=received)
        self.control.stop()
        trial.processes.await_exit(load.labels("server"), time.time() + EXIT_MARGIN_S)
        trial.attempt.event("stopped")
        if self.link is not None:
            self.link.measure("after")
        trial.stillness.check()
        load.judge()
        for probing in trial.probing:
            probing.judge()
        trial.describe()
        return trial.attempt.finish()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A trial with its place on the system, whose processes are starting."""

    trial: Trial
    control: Control
    link: Linked | None

    def measure(self) -> Measured:
        """Wait for everybody, agree on the start, and stay out of the way until the window ends."""
        trial = self.trial
        trial.tell("getting ready")
        self.control.await_ready(
            trial.processes.labels, READY_TIMEOUT_S, trial.processes.check_running
        )
        if self.link is not None:
            self.link.measure("before")
        trial.stillness.seen.clear()
        schedule = Schedule.from_start(self.control.start(), trial.case)
        trial.schedule = schedule
        trial.attempt.event("start", start=schedule.start)
        trial.tell("warming up")
        trial.timetable.begin(schedule.window_start)
        trial.held.callback(trial.timetable.close)
        self._sleep_until(schedule.window_start)
        trial.tell("measuring")
        self._sleep_until(schedule.window_end)
        trial.attempt.event("measured")
        return Measured(trial, self.control, self.link, schedule)

    def _sleep_until(self, instant: float) -> None:
        """Act on the timetable meanwhile, and see that all run: at the end they may end, too."""
        timetable = self.trial.timetable
        while time.time() < instant:
            self.trial.processes.check_running()
            timetable.act()
            left = min(instant, timetable.due) - time.time()
            time.sleep(max(0.0, min(1.0, left)))
        timetable.act()


@dataclass(frozen=True, slots=True)
class Spoiled:
    """A trial that could not be prepared."""

    trial: Trial
    error: MqperfError

    def measure(self) -> Measured:
        """Raise what was in the way, now that it is this trial's turn."""
        raise self.error


Begun = Prepared | Spoiled


def begin(case: Case, position: int, runs: Path, bench: Bench, tell: Tell) -> Begun:
    """Start the processes of a case; raises ``RecordError`` when there is no place for its run."""
    trial = Trial(case, position, runs, bench, tell)
    try:
        return _prepared(trial)
    except MqperfError as error:
        return Spoiled(trial, error)
    except BaseException:
        trial.discard()
        raise


def _prepared(trial: Trial) -> Prepared:
    """Make the link, get a place on the system, and start load generator and probes."""
    bench, case, folder = trial.bench, trial.case, trial.attempt.folder
    trial.timetable.check()
    link = trial.held.enter_context(linked(case.link, bench.hosts, trial.attempt.facts))
    control = trial.held.enter_context(controlled(bench.hosts.every))
    access = _provisioned(trial)
    trial.held.callback(trial.processes.stop)
    talk = control.at(bench.hosts.client[0]).folder
    trial.load.start(Job(case, trial.key, access, bench.tool, talk, folder / "load"), control)
    for probing in trial.probing:
        probing.start(bench.deployment.nodes, trial.load.commands, control, case.load_s)
    trial.attempt.event("started", processes=trial.processes.labels)
    return Prepared(trial, control, link)


def _provisioned(trial: Trial) -> Access:
    bench = trial.bench
    access = bench.deployment.provision(trial.case, trial.key)
    trial.held.callback(trial.clean_up)
    incidents = bench.facts["system"].get("incidents", [])
    trial.attempt.event("provisioned", **({"incidents": incidents} if incidents else {}))
    trial.attempt.facts["generator_options"] = bench.generator.options(trial.case, access)
    trial.attempt.facts["parameters"] = bench.generator.resolved(trial.case)
    return access

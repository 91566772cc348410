"""One trial: the state shared by its phases, and its end by failure or interruption.

``phases.py`` moves it from one phase to the next.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mqperf.base.closing import ChainedExitStack
from mqperf.base.errors import MqperfError, RecordError
from mqperf.hosts import HERE
from mqperf.lab.runner.bench import Bench
from mqperf.lab.runner.clocks import Clocks
from mqperf.lab.runner.gauge import Gauge
from mqperf.lab.runner.interrupts import interrupts_first
from mqperf.lab.runner.linking import Linked
from mqperf.lab.runner.loads import Load
from mqperf.lab.runner.probing import Probing
from mqperf.lab.runner.processes import Processes
from mqperf.lab.runner.timetable import Stage, Timetable
from mqperf.lab.runner.watch import Clock, FreezeMonitor
from mqperf.plan import Case
from mqperf.plan.load import GENERATORS
from mqperf.record import Attempt, Run, background_place, set_aside, utc

if TYPE_CHECKING:
    from mqperf.lab.runner.schedule import Schedule


@dataclass(frozen=True, slots=True)
class Audience:
    """Callbacks of a trial: for each phase, and when its load can be observed, and no longer."""

    phase: Callable[[str], None]
    watching: Callable[[Gauge | None], None] = lambda _gauge: None


class Trial:
    """One attempt at a case on a bench.  ``close`` must be called whatever happens.

    ``held`` has the resources to release: processes, folders, the access to the system.
    ``schedule`` is None until all processes are ready and the start is agreed.
    """

    def __init__(
        self, case: Case, position: int, runs: Path, bench: Bench, audience: Audience
    ) -> None:
        """Create the run folder; raises ``RecordError`` when that fails."""
        self.case, self.bench, self.audience = case, bench, audience
        parameters = GENERATORS[case.generator].resolved(case)
        facts = {"position": position, "parameters": parameters, **bench.facts}
        facts["generator"] = bench.versions(case.generator)
        self.attempt = Attempt(runs, case, facts, HERE)
        folder = self.attempt.folder
        self.key = f"{case.id}-{time.time_ns() // 1_000_000 % 10**9}"
        self.held = ChainedExitStack()
        self.processes = Processes(self._watch)
        self.load = Load(case, self.key, self.processes, folder / "load")
        self.beside = [self._background(n, load) for n, load in enumerate(case.beside(), 1)]
        self.probing = [
            Probing(host, self.processes, folder / "probes", bench.probes)
            for host in bench.hosts.every
        ]
        stage = Stage(bench.deployment, bench.hosts.every, bench.files, self.attempt.keep)
        self.timetable = Timetable(case.actions, stage, self.attempt.event, self._follow)
        self.freezes = FreezeMonitor(bench.deployment, lambda: self.timetable.disturbed)
        self.link: Linked | None = None
        self.schedule: Schedule | None = None
        self.clocks = Clocks(bench.hosts.every)
        self._clock = Clock(HERE)

    def take(self, link: Linked | None) -> None:
        """Use the link, and check the actions; raises ``SystemFault`` for an unsuitable target."""
        self.link = link
        if link is not None:
            self.timetable.link = link.laid
            for probing in self.probing:
                probing.link_processes = link.processes(probing.host)
        self.timetable.check()

    def fail(self, reason: str) -> Run:
        """End the attempt as a failed one, with all available evidence."""
        try:
            with interrupts_first(), ChainedExitStack() as ending:  # runs all steps
                ending.callback(self.describe)
                ending.callback(lambda: self.attempt.event("failed", reason=reason))
                ending.callback(self.fetch)
                ending.callback(self.processes.stop)
                ending.callback(self.timetable.close)
                frozen = ", ".join(self.freezes.look())
                reason = f"{frozen} is frozen; {reason}" if frozen not in reason else reason
        except MqperfError as error:
            if str(error) not in reason:
                reason += f"; not all evidence could be kept: {error}"
        try:
            return self.attempt.fail(reason)
        except RecordError:  # No space for the reason, but the folder can still be renamed.
            return set_aside(self.attempt.folder, "failed")

    def fetch(self) -> None:
        """Copy the output of load generators and probes from every host that answers."""
        with ChainedExitStack() as fetches:
            for load in (self.load, *self.beside):
                fetches.callback(load.fetch)
            for probing in self.probing:
                fetches.callback(probing.fetch)

    def interrupt(self) -> Run:
        """Leave the attempt as it is: the next command tries the case again.

        Errors in undoing actions or in recording the event are ignored.
        """
        with suppress(MqperfError):
            self.timetable.close()
        with suppress(MqperfError):
            self.attempt.event("interrupted")
        return self.attempt.interrupt()

    def discard(self) -> None:
        """Release everything and remove the attempt, of which nothing was measured yet."""
        self.close()
        self.attempt.discard()

    def close(self) -> None:
        """Stop running processes and release what the system provisioned.

        An error does not spoil the measurement, but ends the use of the system: ``Bench.faults``.
        """
        try:
            with interrupts_first():
                self.held.close()
        except MqperfError as error:
            self.bench.faults.append(str(error))

    def clean_up(self, load: Load) -> None:
        """Remove what was provisioned for a load, unless the system is ended after this trial."""
        deployment, ends = self.bench.deployment, self.bench.faults or self.timetable.renews
        if not (ends and deployment.ends_with_us):
            self.freezes.check()  # A frozen node would make us wait for a minute.
            deployment.clean_up(load.key, load.queues())

    def describe(self) -> None:
        """Record the results of the run, as far as it got."""
        for name, (first, last) in self.freezes.seen.items():
            self.attempt.event("frozen", node=name, first=utc(first), last=utc(last))
        self.bench.deployment.collect(self.attempt.folder / "broker")
        times = self.schedule
        self.attempt.facts |= {
            "system": {**self.bench.facts["system"], **self.bench.deployment.facts()},
            "started": utc(times.start) if times else None,
            "stopped": utc(time.time()),
            "window": {"start": times.window_start, "end": times.window_end} if times else None,
            "clocks": self.clocks.facts(),
            "kinds": {
                label: kind for probing in self.probing for label, kind in probing.kinds.items()
            },
            "processes": self.load.facts(),
            "background": [
                {
                    "generator": self.bench.versions(load.case.generator),
                    "parameters": load.generator.resolved(load.case),
                    "started": utc(times.background) if times else None,
                    "processes": load.facts(),
                }
                for load in self.beside
            ],
        }

    def _background(self, number: int, case: Case) -> Load:
        """Return the background load of this number."""
        folder = self.attempt.folder / background_place(number)
        return Load(case, f"{self.key}-b{number}", self.processes, folder, number)

    def _follow(self) -> None:
        """Have probes observe the current processes of the nodes."""
        for probing in self.probing:
            probing.follow(self.bench.deployment.nodes)

    def _watch(self) -> None:
        """Raise when the clock was set, a host or the link is lost, or a node is dead."""
        self._clock.check()
        self.bench.hosts.check()
        if self.link is not None:
            self.link.laid.check()
        self.freezes.look()
        self.bench.deployment.check()

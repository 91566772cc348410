"""One trial: all that the phases of an attempt share, and how it ends other than well.

``phases.py`` takes it from one phase to the next.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mqperf.base.errors import MqperfError, RecordError
from mqperf.hosts import HERE
from mqperf.lab.runner.bench import Bench
from mqperf.lab.runner.clocks import Clocks
from mqperf.lab.runner.gauge import Gauge
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
    """Who is told of a trial: of each phase, and when its load can be watched, and no longer."""

    phase: Callable[[str], None]
    watching: Callable[[Gauge | None], None] = lambda _gauge: None


class Trial:
    """One attempt at a case on a bench.  ``close`` must be called whatever happens.

    ``held`` is what must be given back: processes, folders, the place on the system.  ``schedule``
    is None until all processes are ready and the start is agreed.
    """

    def __init__(
        self, case: Case, position: int, runs: Path, bench: Bench, audience: Audience
    ) -> None:
        """Open the run folder; raises ``RecordError`` when that is refused."""
        self.case, self.bench, self.audience = case, bench, audience
        parameters = GENERATORS[case.generator].resolved(case)
        facts = {"position": position, "parameters": parameters, **bench.facts}
        facts["generator"] = bench.versions(case.generator)
        self.attempt = Attempt(runs, case, facts, HERE)
        folder = self.attempt.folder
        self.key = f"{case.id}-{time.time_ns() // 1_000_000 % 10**9}"
        self.held = ExitStack()
        self.processes = Processes(self._watch)
        self.load = Load(case, self.key, self.processes, folder / "load")
        self.beside = [self._beside(number, load) for number, load in enumerate(case.beside(), 1)]
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
        """Have a link watched and acted upon; raises ``SystemFault`` for what cannot be."""
        self.link = link
        if link is not None:
            self.timetable.link = link.laid
            for probing in self.probing:
                probing.link_processes = link.processes(probing.host)
        self.timetable.check()

    def fail(self, reason: str) -> Run:
        """End the attempt as a failed one, with all evidence there is."""
        try:
            with ExitStack() as ending:  # each step, whatever becomes of those before it
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
        except RecordError:  # No room for the reason, but a folder can be renamed all the same.
            return set_aside(self.attempt.folder, "failed")

    def fetch(self) -> None:
        """Bring home what load generators and probes have written, from every host that answers."""
        with ExitStack() as each:
            for load in (self.load, *self.beside):
                each.callback(load.fetch)
            for probing in self.probing:
                each.callback(probing.fetch)

    def interrupt(self) -> Run:
        """Leave the attempt as it is: the next command tries the case again.

        What cannot be undone or written down is no reason to go on.
        """
        with suppress(MqperfError):
            self.timetable.close()
        with suppress(MqperfError):
            self.attempt.event("interrupted")
        return self.attempt.interrupt()

    def discard(self) -> None:
        """Take everything back, as if the trial had never begun: nothing was measured yet."""
        self.close()
        self.attempt.discard()

    def close(self) -> None:
        """Stop what still runs and give back what the system provisioned.

        When that fails, what was measured is as good as before; the system is not, see ``Bench``.
        """
        try:
            self.held.close()
        except MqperfError as error:
            self.bench.faults.append(str(error))

    def clean_up(self, load: Load) -> None:
        """Remove what was provisioned for a load, unless the system is ended after this trial."""
        deployment, left = self.bench.deployment, self.bench.faults or self.timetable.renews
        if not (left and deployment.ends_with_us):
            self.freezes.check()  # A frozen node would let us wait for a minute.
            deployment.clean_up(load.key, load.queues())

    def describe(self) -> None:
        """Write down what became of the run, as far as it got."""
        for name, (first, last) in self.freezes.seen.items():
            self.attempt.event("frozen", node=name, first=utc(first), last=utc(last))
        self.bench.deployment.collect(self.attempt.folder / "broker")
        at = self.schedule
        self.attempt.facts |= {
            "system": {**self.bench.facts["system"], **self.bench.deployment.facts()},
            "started": utc(at.start) if at else None,
            "stopped": utc(time.time()),
            "window": {"start": at.window_start, "end": at.window_end} if at else None,
            "clocks": self.clocks.facts(),
            "kinds": {
                label: kind for probing in self.probing for label, kind in probing.kinds.items()
            },
            "processes": self.load.facts(),
            "background": [
                {
                    "generator": self.bench.versions(load.case.generator),
                    "parameters": load.generator.resolved(load.case),
                    "started": utc(at.background) if at else None,
                    "processes": load.facts(),
                }
                for load in self.beside
            ],
        }

    def _beside(self, number: int, case: Case) -> Load:
        """A background load."""
        folder = self.attempt.folder / background_place(number)
        return Load(case, f"{self.key}-b{number}", self.processes, folder, number)

    def _follow(self) -> None:
        """Have probes watch the processes that nodes have now."""
        for probing in self.probing:
            probing.follow(self.bench.deployment.nodes)

    def _watch(self) -> None:
        """Raise when the clock was set, a host is lost or a node is dead."""
        self._clock.check()
        self.bench.hosts.check()
        if self.link is not None:
            self.link.laid.check()
        self.freezes.look()
        self.bench.deployment.check()

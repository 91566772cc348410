"""One trial: a case from starting its processes to sealing its run folder.

The phases are ``prepare``, ``measure`` and ``conclude``.  ``prepare`` only starts processes and
does not wait for them, so a sweep calls it for the next case while the present one drains.
"""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mqperf.errors import LoadError, MqperfError, RecordError, SystemFault
from mqperf.hosts import Host
from mqperf.load import Access, Command, Generator, Job, Kind, Tool
from mqperf.plan import Case
from mqperf.probes import PROBES, Target, Task
from mqperf.record import Attempt, Run, disk_errors, set_aside, utc
from mqperf.record.totals import is_recorded, totals
from mqperf.runner.control import POLL_S, Control
from mqperf.runner.processes import Processes
from mqperf.runner.timetable import Timetable
from mqperf.runner.watch import Clock, Stillness
from mqperf.systems import Deployment

READY_TIMEOUT_S = 90
EXIT_MARGIN_S = 20
DRAIN_QUIET_S = 10
"""A server under load has been seen to count nothing for 8 s, then thousands at once."""

DRAIN_LIMIT_S = 120

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Bench:
    """What the trials of one system share: where, against what, by which generator.

    ``faults`` are clean-ups that failed: with any, the system is not to be measured again.
    """

    host: Host
    deployment: Deployment
    generator: Generator
    tool: Tool
    facts: Mapping[str, Any]
    faults: list[str] = field(default_factory=list)

    def check(self) -> None:
        """Raise ``MqperfError`` when no further case must be measured on this system."""
        if self.faults:
            raise SystemFault(f"cleaning up after a run failed: {self.faults[0]}")
        self.deployment.check()
        Stillness(self.deployment).check()


class Trial:
    """One attempt at a case on a bench.  ``close`` must be called whatever happens."""

    def __init__(self, case: Case, position: int, runs: Path, bench: Bench, tell: Tell) -> None:
        """Open the run folder."""
        self.case, self.bench, self.tell = case, bench, tell
        self.attempt = Attempt(runs, case, {"position": position, **bench.facts})
        self.key = f"{case.id}-{time.time_ns() // 1_000_000 % 10**9}"
        self.processes = Processes(bench.host, self._watch)
        self.commands: list[Command] = []
        self.kinds: dict[str, str] = {}
        self.window = (0.0, 0.0)
        self._clock = Clock(bench.host.name)
        self._timetable = Timetable(case.actions, bench.deployment.nodes, self.attempt.event)
        self._stillness = Stillness(bench.deployment, lambda: self._timetable.disturbed)
        self._trouble: MqperfError | None = None
        self._stack = ExitStack()

    @classmethod
    def begin(cls, case: Case, position: int, runs: Path, bench: Bench, tell: Tell) -> "Trial":
        """A trial whose processes are starting; trouble with that comes out of ``measure``."""
        trial = cls(case, position, runs, bench, tell)
        try:
            trial.prepare()
        except MqperfError as error:
            trial._trouble = error
        except BaseException:
            trial.discard()
            raise
        return trial

    def prepare(self) -> None:
        """Get a place on the system, and start the load generator and the probe; do not wait."""
        host, deployment, folder = self.bench.host, self.bench.deployment, self.attempt.folder
        self._timetable.check()
        self.control = Control(self._stack.enter_context(host.scratch("run")))
        access = deployment.provision(self.case, self.key)
        self._stack.callback(self._clean_up)
        incidents = self.bench.facts["system"].get("incidents", [])
        self.attempt.event("provisioned", **({"incidents": incidents} if incidents else {}))
        self.bench.tool.check()
        self.commands = self._commands(access)
        options = self.bench.generator.options(self.case, access)
        self.attempt.facts["generator_options"] = options
        self.attempt.facts["parameters"] = self.bench.generator.resolved(self.case)
        self._stack.callback(self.processes.stop)
        for command in self.commands:
            self.control.place(command.files)
            log = folder / "load" / f"{command.label}.log"
            self.processes.start(command.label, command.argv, log, command.env)
        self._start_probes(folder / "probes" / host.name)
        self.attempt.event("started", processes=self.processes.labels)

    def measure(self) -> None:
        """Wait for everybody, agree on the start, and stay out of the way until the window ends."""
        if self._trouble is not None:
            raise self._trouble
        self.tell("getting ready")
        self.control.await_ready(
            self.processes.labels, READY_TIMEOUT_S, self.processes.check_running
        )
        self._stillness.seen.clear()
        start = self.control.start()
        begin = start + self.case.warmup_s
        self.window = (begin, begin + self.case.duration_s)
        self.attempt.event("start", start=start)
        self.tell("warming up")
        self._timetable.begin(begin)
        self._stack.callback(self._timetable.close)
        self._sleep_until(begin)
        self.tell("measuring")
        self._sleep_until(self.window[1])
        self.attempt.event("measured")

    def conclude(self) -> Run:
        """Drain, stop the servers, judge what was left, and seal the run folder."""
        self.tell("draining")
        self._stillness.check()
        clients, servers = self._labels("client"), self._labels("server")
        others = [label for label in self.processes.labels if label not in {*clients, *servers}]
        limit = self.window[1] + self.case.cooldown_s + self.case.timeout_s + EXIT_MARGIN_S
        self.processes.await_exit([*clients, *others], limit)
        self._check_answers(clients)
        self._drain(clients, servers)
        self.control.stop()
        self.processes.await_exit(servers, time.time() + EXIT_MARGIN_S)
        self.attempt.event("stopped")
        self._stillness.check()
        self._judge()
        self._describe()
        return self.attempt.finish()

    def fail(self, reason: str) -> Run:
        """End the attempt as a failed one, with all evidence there is."""
        self._timetable.close()
        self.processes.stop()
        if (frozen := ", ".join(self._stillness.look())) and frozen not in reason:
            reason = f"{frozen} stands still; {reason}"
        try:
            self.attempt.event("failed", reason=reason)
            self._describe()
        except MqperfError as error:
            reason += f"; not all evidence could be kept: {error}"
        try:
            return self.attempt.fail(reason)
        except RecordError:  # No room for the reason, but a folder can be renamed all the same.
            return set_aside(self.attempt.folder, "failed")

    def interrupt(self) -> Run:
        """Leave the attempt as it is: the next command tries the case again."""
        self._timetable.close()
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
            self._stack.close()
        except MqperfError as error:
            self.bench.faults.append(str(error))

    def _clean_up(self) -> None:
        """Remove what was provisioned, unless the system has failed already: it will be ended."""
        if not self.bench.faults:
            self._stillness.check()  # A frozen node would let us wait for a minute.
            self.bench.deployment.clean_up(self.key)

    def _commands(self, access: Access) -> list[Command]:
        out = self.attempt.folder / "load"
        job = Job(self.case, self.key, access, self.bench.tool, self.control.folder, out)
        return self.bench.generator.commands(job)

    def _labels(self, kind: str) -> list[str]:
        return [command.label for command in self.commands if command.kind == kind]

    def _start_probes(self, folder: Path) -> None:
        targets = [
            Target(node.label, "broker", node.process.pid, children=True)
            for node in self.bench.deployment.nodes
            if node.process is not None
        ]
        targets += [
            Target(command.label, command.kind, self.processes.pid(command.label))
            for command in self.commands
        ]
        targets.append(Target("mqperf", "harness", os.getpid()))
        with disk_errors(folder):
            folder.mkdir()
        # mqperf's own come last: they watch the others, too
        for probe in reversed(list(PROBES.values())):
            if probe.program is not None:
                task = Task([*targets], self.control.folder, self.case.load_s, folder)
                program = probe.program(task)
                self.control.place(program.files)
                self.processes.start(probe.name, program.argv, folder / f"{probe.name}.log")
                targets.append(Target(probe.name, "harness", self.processes.pid(probe.name)))
        self.kinds = {target.label: target.kind for target in targets}

    def _watch(self) -> None:
        """Raise when the clock was set or a node is dead."""
        self._clock.check()
        self._stillness.look()
        self.bench.deployment.check()

    def _sleep_until(self, instant: float) -> None:
        """Act on the timetable meanwhile, and see that all run: at the end they may end, too."""
        while time.time() < instant:
            self.processes.check_running()
            self._timetable.act()
            left = min(instant, self._timetable.due) - time.time()
            time.sleep(max(0.0, min(1.0, left)))
        self._timetable.act()

    def _drain(self, clients: list[str], servers: list[str]) -> None:
        """Wait until servers have handled all that was sent, or receive no more."""
        sent = sum(self._counts(client)["sent"] for client in clients)
        received, moved = -1, time.time()
        limit = moved + DRAIN_LIMIT_S
        while received < sent and time.time() < min(moved + DRAIN_QUIET_S, limit):
            now = self.control.received(servers)
            if now != received:
                received, moved = now, time.time()
            self.bench.deployment.check()
            time.sleep(POLL_S)
        self.attempt.event("drained", sent=sent, received=received)

    def _check_answers(self, clients: list[str]) -> None:
        """Raise when a client sent nothing, or nothing that did not fail."""
        for client in clients:
            counts = self._counts(client)
            if counts["sent"] == counts["error"]:
                words = self.processes.last_words(client)
                raise LoadError(f"{client}: all {counts['sent']} messages failed{words}")

    def _judge(self) -> None:
        """Raise when what the processes left is not a sound run."""
        for command in self.commands:
            self.bench.generator.check(self.attempt.folder / "load", command.label, command.kind)
        host = self.bench.host.name
        for probe in PROBES.values():
            probe.check(self.attempt.folder / "probes" / host, host)

    def _describe(self) -> None:
        begin, end = self.window
        for name, (first, last) in self._stillness.seen.items():
            self.attempt.event("frozen", node=name, first=utc(first), last=utc(last))
        reporting = [c.label for c in self.commands if self._reported(c.label, c.kind)]
        self.bench.deployment.collect(self.attempt.folder / "broker")
        system = {**self.bench.facts["system"], **self.bench.deployment.facts()}
        self.attempt.facts |= {
            "system": system,
            "started": utc(begin - self.case.warmup_s) if begin else None,
            "stopped": utc(time.time()),
            "window": {"start": begin, "end": end} if begin else None,
            "clock_offsets_s": {self.bench.host.name: 0.0},
            "kinds": self.kinds,
            "processes": [
                {
                    "label": command.label,
                    "kind": command.kind,
                    "exit_code": self.processes.exit_code(command.label),
                    "reported": command.label in reporting,
                }
                for command in self.commands
                if command.label in self.processes
            ],
        }

    def _reported(self, label: str, kind: Kind) -> bool:
        load = self.attempt.folder / "load"
        try:
            self.bench.generator.check(load, label, kind)
        except LoadError:
            return False
        return is_recorded(load, label)

    def _counts(self, label: str) -> Mapping[str, int]:
        return totals(self.attempt.folder / "load", label)

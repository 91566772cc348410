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
from mqperf.guarded import scratch_errors
from mqperf.hosts import LocalHost, Process, stop_all
from mqperf.load import Command, messages, simulator, simulator_json
from mqperf.load.environments import Environment
from mqperf.plan import Case
from mqperf.probes import psutil_log
from mqperf.record import Attempt, Run, disk_errors, set_aside, utc
from mqperf.runner.control import POLL_S, Control
from mqperf.runner.watch import Clock, Stillness, check_step
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

    host: LocalHost
    deployment: Deployment
    environment: Environment
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
        self.processes: dict[str, Process] = {}
        self.commands: list[Command] = []
        self.kinds: dict[str, str] = {}
        self.window = (0.0, 0.0)
        self._clock = Clock(bench.host.name)
        self._stillness = Stillness(bench.deployment)
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
        self.control = Control(self._stack.enter_context(host.scratch("run")))
        access = deployment.grant(self.case, self.key)
        self._stack.callback(self._revoke)
        incidents = self.bench.facts["system"].get("incidents", [])
        self.attempt.event("granted", **({"incidents": incidents} if incidents else {}))
        load = folder / "load"
        self.bench.environment.check()
        self.commands = simulator.commands(
            self.case, self.key, access, self.bench.environment, self.control.folder, load
        )
        self._stack.callback(lambda: stop_all(list(self.processes.values()), grace_s=2))
        for command in self.commands:
            self.processes[command.label] = host.start(
                command.label, command.argv, env=command.env, log=load / f"{command.label}.log"
            )
        self._start_probe(folder / "probes" / host.name)
        self.attempt.event("started", processes=list(self.processes))

    def measure(self) -> None:
        """Wait for everybody, agree on the start, and stay out of the way until the window ends."""
        if self._trouble is not None:
            raise self._trouble
        self.tell("getting ready")
        self.control.await_ready(self.processes, READY_TIMEOUT_S, self._watch)
        self._stillness.seen.clear()
        start = self.control.start()
        begin = start + self.case.warmup_s
        self.window = (begin, begin + self.case.duration_s)
        self.attempt.event("start", start=start)
        self.tell("warming up")
        self._sleep_until(begin)
        self.tell("measuring")
        self._sleep_until(self.window[1])
        self.attempt.event("measured")

    def conclude(self) -> Run:
        """Drain, stop the servers, judge what was left, and seal the run folder."""
        self.tell("draining")
        self._stillness.check()
        clients = [c.label for c in self.commands if c.kind == "client"]
        servers = [c.label for c in self.commands if c.kind == "server"]
        limit = self.window[1] + self.case.cooldown_s + self.case.timeout_s + EXIT_MARGIN_S
        self._await_exit([*clients, "psutil"], limit)
        self._check_answers(clients)
        self._drain(clients, servers)
        self.control.stop()
        self._await_exit(servers, time.time() + EXIT_MARGIN_S)
        self.attempt.event("stopped")
        self._stillness.check()
        self._judge()
        self._describe()
        return self.attempt.finish()

    def fail(self, reason: str) -> Run:
        """End the attempt as a failed one, with all evidence there is."""
        stop_all(list(self.processes.values()), grace_s=2)
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
        self.attempt.event("interrupted")
        return self.attempt.interrupt()

    def discard(self) -> None:
        """Take everything back, as if the trial had never begun: nothing was measured yet."""
        self.close()
        self.attempt.discard()

    def close(self) -> None:
        """Stop what still runs and give back what the system granted.

        When that fails, what was measured is as good as before; the system is not, see ``Bench``.
        """
        try:
            self._stack.close()
        except MqperfError as error:
            self.bench.faults.append(str(error))

    def _revoke(self) -> None:
        """Give back what was granted, unless the system has failed us already: it will be ended."""
        if not self.bench.faults:
            self._stillness.check()  # A frozen node would let us wait for a minute.
            self.bench.deployment.revoke(self.key)

    def _start_probe(self, folder: Path) -> None:
        watched = [
            psutil_log.Target(node.label, "broker", node.process.pid, children=True)
            for node in self.bench.deployment.nodes
            if node.process is not None
        ]
        watched += [
            psutil_log.Target(command.label, command.kind, self.processes[command.label].pid)
            for command in self.commands
        ]
        watched.append(psutil_log.Target("mqperf", "harness", os.getpid()))
        self.kinds = {"psutil": "harness"} | {target.label: target.kind for target in watched}
        with disk_errors(folder):
            folder.mkdir()
        with scratch_errors(self.control.folder):
            argv = psutil_log.command(
                watched, self.control.folder, self.case.load_s, folder / psutil_log.LOG
            )
        self.processes["psutil"] = self.bench.host.start("psutil", argv, log=folder / "psutil.log")

    def _watch(self) -> None:
        """Raise when a process that should run does not, or the clock was set."""
        self._clock.check()
        self._stillness.look()
        self.bench.deployment.check()
        for label, process in self.processes.items():
            if (code := process.poll()) is not None:
                raise LoadError(f"{label} died with exit code {code}{_last_words(process.log)}")

    def _sleep_until(self, instant: float) -> None:
        while (left := instant - time.time()) > 0:
            time.sleep(min(1.0, left))
            self._watch()

    def _await_exit(self, labels: list[str], limit: float) -> None:
        for label in labels:
            process = self.processes[label]
            while (code := process.poll()) is None:
                self._clock.check()
                self._stillness.look()
                self.bench.deployment.check()
                if time.time() > limit:
                    raise LoadError(f"{label} did not end in time{_last_words(process.log)}")
                time.sleep(POLL_S)
            if code != 0:
                raise LoadError(f"{label} ended with exit code {code}{_last_words(process.log)}")

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
                words = _last_words(self.processes[client].log)
                raise LoadError(f"{client}: all {counts['sent']} messages failed{words}")

    def _judge(self) -> None:
        """Raise when what the processes left is not a sound run."""
        readers = {"client": simulator_json.read_client, "server": simulator_json.read_server}
        for command in self.commands:
            readers[command.kind](self.attempt.folder / "load" / f"{command.label}.json")
        samples = psutil_log.samples(self._probe_log)
        check_step(self.bench.host.name, psutil_log.clock_step_s(samples))

    def _describe(self) -> None:
        begin, end = self.window
        for name, (first, last) in self._stillness.seen.items():
            self.attempt.event("frozen", node=name, first=utc(first), last=utc(last))
        reporting = [c.label for c in self.commands if self._reported(c.label)]
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
                    "exit_code": self.processes[command.label].poll(),
                    "reported": command.label in reporting,
                }
                for command in self.commands
                if command.label in self.processes
            ],
        }

    def _reported(self, label: str) -> bool:
        load = self.attempt.folder / "load"
        return (load / f"{label}.json").exists() and (load / f"{label}.messages").exists()

    def _counts(self, label: str) -> Mapping[str, int]:
        header = messages.read_header(self.attempt.folder / "load" / f"{label}.messages")
        return {stream.name: stream.count for stream in header.streams}

    @property
    def _probe_log(self) -> Path:
        return self.attempt.folder / "probes" / self.bench.host.name / psutil_log.LOG


def _last_words(log: Path) -> str:
    """The last line that a process wrote, ready to end a sentence."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return ""
    words = [line.strip() for line in lines if line.strip()]
    return f"; its last line: {words[-1][:300]}" if words else f"; its log is empty: {log}"

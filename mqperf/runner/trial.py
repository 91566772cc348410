"""One trial: a case from starting its processes to sealing its run folder.

The phases are ``prepare``, ``measure`` and ``conclude``.  ``prepare`` only starts processes and
does not wait for them, so a sweep calls it for the next case while the present one drains.
"""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mqperf.errors import HostError, LoadError, MqperfError
from mqperf.hosts import LocalHost, Process, stop_all
from mqperf.load import Command, messages, simulator, simulator_json
from mqperf.load.environments import Environment
from mqperf.plan import Case
from mqperf.probes import psutil_log
from mqperf.record import Attempt, Run, utc
from mqperf.runner.control import POLL_S, Control
from mqperf.systems import Deployment

READY_TIMEOUT_S = 90
EXIT_MARGIN_S = 20
DRAIN_QUIET_S = 10
"""A server under load has been seen to count nothing for 8 s, then thousands at once."""

DRAIN_LIMIT_S = 120
CLOCK_STEP_LIMIT_S = 0.1

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Bench:
    """What the trials of one system share: where, against what, by which generator."""

    host: LocalHost
    deployment: Deployment
    environment: Environment
    facts: Mapping[str, Any]


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
        self._stack.callback(deployment.revoke, self.key)
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
        clients = [c.label for c in self.commands if c.kind == "client"]
        servers = [c.label for c in self.commands if c.kind == "server"]
        limit = self.window[1] + self.case.cooldown_s + self.case.timeout_s + EXIT_MARGIN_S
        self._await_exit([*clients, "psutil"], limit)
        self._check_answers(clients)
        self._drain(clients, servers)
        self.control.stop()
        self._await_exit(servers, time.time() + EXIT_MARGIN_S)
        self.attempt.event("stopped")
        self._judge()
        self._describe()
        return self.attempt.finish()

    def fail(self, reason: str) -> Run:
        """End the attempt as a failed one, with all evidence there is."""
        self.attempt.event("failed", reason=reason)
        stop_all(list(self.processes.values()), grace_s=2)
        self._describe()
        return self.attempt.fail(reason)

    def discard(self) -> None:
        """Take everything back, as if the trial had never begun: nothing was measured yet."""
        self.close()
        self.attempt.discard()

    def close(self) -> None:
        """Stop what still runs and give back what the system granted."""
        self._stack.close()

    def _start_probe(self, folder: Path) -> None:
        folder.mkdir()
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
        argv = psutil_log.command(
            watched, self.control.folder, self.case.load_s, folder / psutil_log.LOG
        )
        self.processes["psutil"] = self.bench.host.start("psutil", argv, log=folder / "psutil.log")

    def _watch(self) -> None:
        """Raise when a process that should run does not."""
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
        for command in self.commands:
            simulator_json.read_summary(self.attempt.folder / "load" / f"{command.label}.json")
        step = psutil_log.clock_step_s(self._probe_log)
        if abs(step) > CLOCK_STEP_LIMIT_S:
            raise HostError(
                f"the clock of host {self.bench.host.name} was set by {step:+.3f} s during the run;"
                " let it settle and repeat the command"
            )

    def _describe(self) -> None:
        begin, end = self.window
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

"""A load generator in a run: its processes, what they left, and whether that is sound."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import JsonValue

from mqperf.errors import LoadError
from mqperf.hosts import Hosts
from mqperf.load import Command, Generator, Job, Kind
from mqperf.plan import Case
from mqperf.record.totals import is_recorded, totals
from mqperf.runner.control import POLL_S, Control
from mqperf.runner.processes import Processes

DRAIN_QUIET_S = 10
"""A server under load has been seen to count nothing for 8 s, then thousands at once."""

DRAIN_LIMIT_S = 120


class Load:
    """Clients and servers of one generator; they write into ``out``."""

    def __init__(self, generator: Generator, hosts: Hosts, processes: Processes, out: Path) -> None:
        """Begin with none."""
        self._generator = generator
        self._hosts = hosts
        self._processes = processes
        self._out = out
        self.commands: list[Command] = []

    def start(self, job: Job, control: Control) -> None:
        """Start every process; raises ``MqperfError`` for one that cannot be started."""
        job.tool.check()
        self.commands = self._generator.commands(job)
        for command in self.commands:
            host = self._hosts.of(command.kind)[0]
            control.at(host).place(command.files)
            log = self._out / f"{command.label}.log"
            self._processes.start(host, command.label, command.argv, log, command.env)

    def queues(self, case: Case, run_id: str) -> Sequence[str]:
        """What the run leaves in a broker."""
        return self._generator.queues(case, run_id)

    def labels(self, kind: Kind) -> list[str]:
        """Of all clients, or of all servers."""
        return [command.label for command in self.commands if command.kind == kind]

    def check_answers(self) -> None:
        """Raise ``LoadError`` when a client sent nothing, or nothing that did not fail."""
        for client in self.labels("client"):
            counts = totals(self._out, client)
            if counts["sent"] == counts["error"]:
                words = self._processes.last_words(client)
                raise LoadError(f"{client}: all {counts['sent']} messages failed{words}")

    def drain(self, control: Control, check: Callable[[], None]) -> tuple[int, int]:
        """Wait until servers have handled all that was sent, or receive no more; sent, received.

        ``check`` raises when they will never do so.
        """
        clients, servers = self.labels("client"), self.labels("server")
        sent = sum(totals(self._out, client)["sent"] for client in clients)
        received, moved = -1, time.time()
        limit = moved + DRAIN_LIMIT_S
        while received < sent and time.time() < min(moved + DRAIN_QUIET_S, limit):
            now = control.received(servers)
            if now != received:
                received, moved = now, time.time()
            check()
            time.sleep(POLL_S)
        return sent, received

    def judge(self) -> None:
        """Raise ``LoadError`` for the first process whose output is no sound one."""
        for command in self.commands:
            self._generator.check(self._out, command.label, command.kind)

    def facts(self) -> list[JsonValue]:
        """Every process that was started, and what became of it."""
        started = [command for command in self.commands if command.label in self._processes]
        return [
            {
                "label": command.label,
                "kind": command.kind,
                "exit_code": self._processes.exit_code(command.label),
                "reported": self._is_sound(command) and is_recorded(self._out, command.label),
            }
            for command in started
        ]

    def _is_sound(self, command: Command) -> bool:
        try:
            self._generator.check(self._out, command.label, command.kind)
        except LoadError:
            return False
        return True

"""A load of a run, measured or background: its processes and their output."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import JsonValue

from mqperf.base.errors import LoadError
from mqperf.hosts import Host, Hosts
from mqperf.lab.load import LAUNCHERS, Access, Command, LoadJob
from mqperf.lab.runner.bench import Bench
from mqperf.lab.runner.control import POLL_S, ControlFolders
from mqperf.lab.runner.outputs import Outputs
from mqperf.lab.runner.processes import Processes
from mqperf.plan import Case
from mqperf.plan.load import GENERATORS, Generator, Kind, Member
from mqperf.record.totals import is_recorded, totals

DRAIN_QUIET_S = 10
"""Servers under load have been observed to count nothing for 8 s, then thousands at once."""

DRAIN_LIMIT_S = 120


class Load:
    """Clients and servers of one generator; they write into ``out``.

    ``key`` identifies it in the system.  ``number`` counts background loads from 1; the measured
    load has 0.
    """

    def __init__(
        self, case: Case, key: str, processes: Processes, out: Path, number: int = 0
    ) -> None:
        """Begin without processes."""
        self.case, self.key, self.number = case, key, number
        self.generator = GENERATORS[case.generator]
        self.launcher = LAUNCHERS[case.generator]
        self._processes = processes
        self.out = out
        self._outputs: Outputs | None = None
        self.commands: list[Command] = []

    def start(
        self,
        bench: Bench,
        access: Access,
        hosts: Hosts,
        control: ControlFolders,
        outputs: Outputs,
    ) -> None:
        """Start every process; raises ``MqperfError`` for one that cannot be started.

        Processes are distributed round-robin over the hosts of their kind, and write into
        ``outputs``.
        """
        self._outputs = outputs
        self.commands = []
        tools, files = bench.tools[self.case.generator], bench.files
        for host, share in _dealt(self.generator, self.case, hosts):
            tool, out = tools[host.name], outputs.at(host)
            tool.check()
            station = control.at(host)
            folder, address = station.folder, host.address
            job = LoadJob(self.case, self.key, access, tool, share, folder, out, address, files)
            for command in self.launcher.commands(job):
                station.place(command.files)
                log = out / f"{command.label}.log"
                self._processes.start(host, self.name(command), command.argv, log, command.env)
                self.commands.append(command)

    def fetch(self) -> None:
        """Copy what processes have written so far; there is nothing to copy on this machine."""
        if self._outputs is not None:
            self._outputs.fetch()

    def name(self, command: Command) -> str:
        """Return the label of a process among all processes of the run."""
        return f"background-{self.number} {command.label}" if self.number else command.label

    def queues(self) -> Sequence[str]:
        """Return the queues that it leaves in a broker."""
        return self.launcher.queues(self.case, self.key)

    def of(self, kind: Kind) -> list[Command]:
        """Return all clients, or all servers."""
        return [command for command in self.commands if command.kind == kind]

    def names(self, kind: Kind) -> list[str]:
        """Return the labels of all clients, or all servers, among all processes of the run."""
        return [self.name(command) for command in self.of(kind)]

    def await_sent(self, control: ControlFolders, limit: float) -> None:
        """Wait until each client has reported that its results are saved, or has ended."""
        for client in self.of("client"):
            missing = partial(control.missing, [client.label], "saved")
            self._processes.await_exit([self.name(client)], limit, missing)

    def check_answers(self) -> None:
        """Raise ``LoadError`` when a client sent nothing, or all its messages failed."""
        for client in self.of("client"):
            counts = totals(self.out, client.label)
            if counts["sent"] == counts["error"]:
                name = self.name(client)
                last_words = self._processes.last_words(name)
                raise LoadError(f"{name}: all {counts['sent']} messages failed{last_words}")

    def drain(self, control: ControlFolders, check: Callable[[], None]) -> dict[str, int]:
        """Wait until servers have handled all messages, or receive no more; return both counts.

        ``check`` raises when they never will.  Without servers there is nothing to wait for.
        """
        servers = [server.label for server in self.of("server")]
        sent = sum(totals(self.out, client.label)["sent"] for client in self.of("client"))
        if not servers:
            return {"sent": sent, "received": 0}
        expected = sent * self.generator.copies(self.case)
        received, changed_at = -1, time.time()
        limit = changed_at + DRAIN_LIMIT_S
        while received < expected and time.time() < min(changed_at + DRAIN_QUIET_S, limit):
            now = control.received(servers)
            if now != received:
                received, changed_at = now, time.time()
            check()
            time.sleep(POLL_S)
        return {"sent": sent, "received": received}

    def judge(self) -> None:
        """Raise ``LoadError`` for the first process whose output is not sound."""
        for command in self.commands:
            self.launcher.check(self.out, command.label, command.kind)

    def facts(self) -> list[JsonValue]:
        """Return every process that was started, with exit code and whether it left results."""
        started = [command for command in self.commands if self.name(command) in self._processes]
        return [
            {
                "label": command.label,
                "kind": command.kind,
                "host": self._processes.host(self.name(command)).name,
                "exit_code": self._processes.exit_code(self.name(command)),
                "reported": self._is_sound(command) and is_recorded(self.out, command.label),
            }
            for command in started
        ]

    def _is_sound(self, command: Command) -> bool:
        try:
            self.launcher.check(self.out, command.label, command.kind)
        except LoadError:
            return False
        return True


def _dealt(generator: Generator, case: Case, hosts: Hosts) -> list[tuple[Host, list[Member]]]:
    """Return the processes of a case that run on each host, servers first."""
    members = generator.members(case)
    shares: list[tuple[Host, list[Member]]] = []
    for kind in ("server", "client"):
        of_kind = [member for member in members if member.kind == kind]
        of_role = hosts.of(kind)
        shares += [(host, of_kind[index :: len(of_role)]) for index, host in enumerate(of_role)]
    return [(host, share) for host, share in shares if share]


@dataclass(frozen=True, slots=True)
class Started:
    """A load whose processes were started, and the control folders of these."""

    load: Load
    control: ControlFolders

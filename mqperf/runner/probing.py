"""The probes of a run on one host: started with what they watch, judged by what they wrote."""

from collections.abc import Sequence
from pathlib import Path

from mqperf.hosts import Host
from mqperf.probes import PROBES, Target, Task
from mqperf.record import disk_errors
from mqperf.runner.control import Control
from mqperf.runner.loads import Load
from mqperf.runner.processes import Processes
from mqperf.systems import Node


class Probing:
    """Every probe that is a program, and the logs of all; they write into ``folder``."""

    def __init__(self, host: Host, processes: Processes, folder: Path) -> None:
        """Begin with none."""
        self._host = host
        self._processes = processes
        self._folder = folder / host.name
        self._targets: list[Target] = []
        self.labels: list[str] = []

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of every process that is watched, by its label."""
        return {target.label: target.kind for target in self._targets}

    def start(
        self, nodes: Sequence[Node], loads: Sequence[Load], control: Control, seconds: int
    ) -> None:
        """Watch what runs on this host, and the probes themselves, for ``seconds`` of load.

        These are nodes, load generators and mqperf.  mqperf's own probes come last: they watch the
        others, too.
        """
        station = control.at(self._host)
        own = self._host.own_processes().items()
        mqperf = [Target(label, "harness", pid) for label, pid in own]
        self._targets = [*self._brokers(nodes), *self._generators(loads), *mqperf]
        with disk_errors(self._folder):
            self._folder.mkdir()
        for probe in reversed(list(PROBES.values())):
            if probe.program is not None:
                task = Task([*self._targets], station.folder, seconds, self._folder)
                program = probe.program(task)
                station.place(program.files)
                log = self._folder / f"{probe.name}.log"
                self._processes.start(self._host, probe.name, program.argv, log)
                self.labels.append(probe.name)
                pid = self._processes.pid(probe.name)
                self._targets.append(Target(probe.name, "harness", pid))

    def judge(self) -> None:
        """Raise ``ProbeError`` or ``HostError`` for the first log that is no sound one."""
        for probe in PROBES.values():
            probe.check(self._folder, self._host.name)

    def _brokers(self, nodes: Sequence[Node]) -> list[Target]:
        return [
            Target(node.label, "broker", node.process.pid, children=True)
            for node in nodes
            if node.process is not None and node.host is not None and self._is_mine(node.host)
        ]

    def _generators(self, loads: Sequence[Load]) -> list[Target]:
        """Clients and servers of the measured load, and all processes of those beside it."""
        return [
            Target(name, "background" if load.number else command.kind, self._processes.pid(name))
            for load in loads
            for command in load.commands
            if self._is_mine(self._processes.host(name := load.name(command)))
        ]

    def _is_mine(self, host: Host) -> bool:
        return host.name == self._host.name

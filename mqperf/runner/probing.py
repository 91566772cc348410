"""The probes of a run on one host: started with what they watch, judged by what they wrote."""

import os
from collections.abc import Sequence
from pathlib import Path

from mqperf.hosts import Host
from mqperf.load import Command
from mqperf.probes import PROBES, Target, Task
from mqperf.record import disk_errors
from mqperf.runner.control import Control
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
        self, nodes: Sequence[Node], commands: Sequence[Command], control: Control, seconds: int
    ) -> None:
        """Watch nodes, load generators, mqperf and the probes themselves for ``seconds`` of load.

        mqperf's own probes come last: they watch the others, too.
        """
        self._targets = [*_brokers(nodes), *self._generators(commands), _mqperf()]
        with disk_errors(self._folder):
            self._folder.mkdir()
        for probe in reversed(list(PROBES.values())):
            if probe.program is not None:
                task = Task([*self._targets], control.folder, seconds, self._folder)
                program = probe.program(task)
                control.place(program.files)
                log = self._folder / f"{probe.name}.log"
                self._processes.start(probe.name, program.argv, log)
                self.labels.append(probe.name)
                pid = self._processes.pid(probe.name)
                self._targets.append(Target(probe.name, "harness", pid))

    def judge(self) -> None:
        """Raise ``ProbeError`` or ``HostError`` for the first log that is no sound one."""
        for probe in PROBES.values():
            probe.check(self._folder, self._host.name)

    def _generators(self, commands: Sequence[Command]) -> list[Target]:
        return [
            Target(command.label, command.kind, self._processes.pid(command.label))
            for command in commands
        ]


def _brokers(nodes: Sequence[Node]) -> list[Target]:
    return [
        Target(node.label, "broker", node.process.pid, children=True)
        for node in nodes
        if node.process is not None
    ]


def _mqperf() -> Target:
    return Target("mqperf", "harness", os.getpid())

"""The probes of a run on one host: their start, their targets, and the check of their logs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from mqperf.base.errors import HostError
from mqperf.hosts import HERE, Host, Hosts, Output
from mqperf.lab.probes import Inside, Probe, Task, WatchedProcess
from mqperf.lab.runner.control import ControlFolders
from mqperf.lab.runner.loads import Load
from mqperf.lab.runner.processes import Processes
from mqperf.lab.systems import Node
from mqperf.record.logs.psutil_log import WHOLE_HOST

TAIL_BYTES = 20_000
"""Length of the end of a log in which the latest values are searched."""


class Probing:
    """The probes of a run on a host, whose logs are copied to ``folder``."""

    def __init__(
        self, host: Host, processes: Processes, folder: Path, probes: Sequence[Probe]
    ) -> None:
        """Begin without running probes."""
        self.host = host
        self._probes = probes
        self._processes = processes
        self.folder = folder / host.name
        self._output: Output | None = None
        self._targets: list[WatchedProcess] = []
        self._tasks: list[tuple[Probe, Task]] = []
        self.labels: list[str] = []
        self.link_processes: Mapping[str, int] = {}
        """Processes on the host of the link of the run: pids by label."""

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of every observed process, by label."""
        return {target.label: target.kind for target in self._targets}

    def start(
        self,
        nodes: Sequence[Node],
        loads: Sequence[Load],
        control: ControlFolders,
        seconds: int,
        output: Output,
    ) -> None:
        """Observe the processes on this host, and the probes themselves, for ``seconds`` of load.

        These are nodes, load generators and mqperf.  mqperf's own probes start last: they observe
        the other probes, too.  All write into ``output``.
        """
        self._output = output
        station = self._station = control.at(self.host)
        pids = {**self.host.own_processes(), **self.link_processes}
        mqperf = [WatchedProcess(label, "harness", pid) for label, pid in pids.items()]
        self._targets = [*self._brokers(nodes), *self._generators(loads), *mqperf]
        for probe in reversed(self._probes):
            # its label among all processes of the run: there is one on each host
            label = probe.name if self.host.name == HERE else f"{probe.name} {self.host.name}"
            targets = [*self._targets]
            out = output.folder
            insides = self._insides(nodes)
            task = Task(label, targets, station.folder, seconds, out, self.host, insides)
            if (program := probe.program(task)) is None:
                continue
            self._tasks.append((probe, task))
            station.place(program.files)
            log = out / f"{probe.name}.log"
            self._processes.start(self.host, label, program.argv, log, program.env)
            self.labels.append(label)
            pid = self._processes.pid(label)
            self._targets.append(WatchedProcess(label, "harness", pid, children=True))

    def follow(self, nodes: Sequence[Node]) -> None:
        """Tell the probes the current processes of the nodes on this host."""
        brokers = {target.label: target for target in self._brokers(nodes)}
        for probe, task in self._tasks:
            targets = [brokers.get(target.label, target) for target in task.targets]
            if targets != task.targets:
                program = probe.program(replace(task, targets=targets))
                self._station.place({} if program is None else program.files)

    def now(self) -> dict[str, float]:
        """Return the CPU cores in recent use by each process and by the whole host, by label."""
        used: dict[str, float] = {}
        for probe, task in self._tasks:
            if probe.now is not None:
                log, now = probe.now
                path = task.out / log
                end = self.host.read(path, max(0, self.host.size(path) - TAIL_BYTES))
                used.update({self._unique_label(label): cores for label, cores in now(end).items()})
        return used

    def _unique_label(self, label: str) -> str:
        """Return a label made unique among all hosts: that of the whole host gets its name."""
        unique = label != WHOLE_HOST or self.host.name == HERE
        return label if unique else f"{WHOLE_HOST} {self.host.name}"

    def fetch(self) -> None:
        """Copy what probes have written so far."""
        if self._output is not None:
            self._output.fetch()

    def judge(self) -> None:
        """Raise ``ProbeError`` or ``HostError`` for the first log that is not sound."""
        for probe, _ in self._tasks:
            probe.check(self.folder, self.host.name)

    def _brokers(self, nodes: Sequence[Node]) -> list[WatchedProcess]:
        return [
            WatchedProcess(node.label, "broker", node.process.pid, children=True)
            for node in nodes
            if node.process is not None and node.host is not None and self._is_on_host(node.host)
        ]

    def _insides(self, nodes: Sequence[Node]) -> list[Inside]:
        """Return the metrics endpoints of the nodes on this host."""
        return [
            node.inside
            for node in nodes
            if node.inside is not None and node.host is not None and self._is_on_host(node.host)
        ]

    def _generators(self, loads: Sequence[Load]) -> list[WatchedProcess]:
        """Return clients and servers of the measured load, and all background processes."""
        return [
            WatchedProcess(
                name, "background" if load.number else command.kind, self._processes.pid(name)
            )
            for load in loads
            for command in load.commands
            if self._is_on_host(self._processes.host(name := load.name(command)))
        ]

    def _is_on_host(self, host: Host) -> bool:
        return host.name == self.host.name


def check_programs(probes: Sequence[Probe], hosts: Hosts) -> None:
    """Raise ``HostError`` for the first host that lacks, or forbids, what a probe needs."""
    tools = {tool.program: tool for probe in probes for tool in probe.tools}
    for host in hosts.every if tools else ():
        for name, path in host.which([*tools]).items():
            if path is None:
                raise HostError(
                    f"{host.name}: no program {name}, which the plan asks for with probes: install"
                    f" it there ({tools[name].install}), prepare all hosts (mqperf"
                    " hosts prepare), or leave it out"
                )
    for probe in probes:
        with probe.prepared(hosts):
            pass

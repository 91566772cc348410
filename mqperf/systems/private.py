"""Private servers: started on free ports for one system, watched, and ended with us."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import TypeVar

from pydantic import JsonValue

from mqperf.errors import SystemFault
from mqperf.hosts import HERE, Host, Process, Spot, common_ports, stop_all
from mqperf.record import disk_errors
from mqperf.systems.evidence import (
    LogReader,
    Redact,
    check_alive,
    last_lines,
    text,
)
from mqperf.systems.system import Node

STOP_GRACE_S = 15
POLL_S = 0.05


class AgainError(SystemFault):
    """A start that failed by chance, and may succeed with other ports."""


class PortTakenError(AgainError):
    """Somebody took one of our ports between the choice and the start."""


@dataclass(frozen=True, slots=True)
class Server:
    """The specification of one server: its command, its files, and what its log says.

    ``files`` are written into its folder, for us only, before the start; any of the texts ``ready``
    in its log says that it serves, any of ``taken`` that it did not get its port.  One that is
    known to die while it starts, or to hang for ``patience_s``, may be started again, ``restarts``
    times for either.  A ``helper`` is no node: once all serve they need it no longer, and it ends
    after them.
    """

    label: str
    name: str
    spot: Spot
    argv: tuple[str, ...]
    env: Mapping[str, str]
    ready: tuple[str, ...]
    taken: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict, repr=False)
    restarts: int = 0
    patience_s: float = inf
    helper: bool = False

    @property
    def host(self) -> Host:
        """Where it runs."""
        return self.spot.host

    @property
    def folder(self) -> Path:
        """Its folder there."""
        return self.spot.folder

    @property
    def log(self) -> Path:
        """Where its output goes."""
        return self.folder / "server.log"

    def write(self) -> None:
        """Make the folder with its files; raises ``HostError`` when that is refused."""
        self.host.make(self.folder)
        for name, content in self.files.items():
            self.host.write(self.folder / name, content)


class Servers:
    """The servers of one system, in the order of their start."""

    def __init__(self, title: str, redact: Redact = str) -> None:
        """Begin with none; ``redact`` takes the system's secrets out of a text."""
        self._title = title
        self._redact = redact
        self._servers: list[Server] = []
        self._processes: list[Process] = []
        self._began: list[float] = []
        self._logs: list[LogReader] = []
        self.incidents: list[str] = []

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Every server that is no helper as a node."""
        return tuple(
            Node(server.label, server.name, process, server.host)
            for server, process in self._of_nodes()
        )

    def start(
        self, servers: Sequence[Server], timeout_s: float, *, enough: int | None = None
    ) -> None:
        """Start some more servers at once, and return when ``enough`` (or all) of them serve.

        Raises ``PortTakenError``, or ``SystemFault`` for one that ended or did not serve in time,
        with the end of its log.
        """
        for server in servers:
            server.write()
            self._servers.append(server)
            self._processes.append(self._run(server))
            self._began.append(time.monotonic())
            self._logs.append(LogReader(server.host, server.log))
        self._await(servers, timeout_s, len(servers) if enough is None else enough)

    def stop(self) -> None:
        """End all of them, helpers last."""
        pairs = list(zip(self._servers, self._processes, strict=True))
        for last in (False, True):
            stop_all([one for server, one in pairs if server.helper == last], STOP_GRACE_S)

    def check(self) -> None:
        """Raise ``SystemFault`` for the first node that is dead, with the end of its log."""
        for server, process in self._of_nodes():
            check_alive(server.host, process, self._named(server), self._redact)

    def collect(self, folder: Path) -> None:
        """Write each server's files and what it has logged since the last call, redacted."""
        with ExitStack() as each:  # the others, too, when one cannot be read
            for server, log in zip(self._servers, self._logs, strict=True):
                each.callback(self._collect, server, log, folder)

    def _collect(self, server: Server, log: LogReader, folder: Path) -> None:
        stem = server.folder.name
        with disk_errors(folder):
            for name, content in server.files.items():
                copy = folder / f"{stem}-{Path(name).name}"
                copy.write_text(self._redact(content), encoding="utf-8")
            (folder / _collected(server)).write_text(self._redact(log.read_on()), encoding="utf-8")

    def facts(self) -> list[dict[str, JsonValue]]:
        """Name, host, memory and log of each node."""
        return [
            {
                "label": server.label,
                "name": server.name,
                "host": server.host.name,
                "rss_bytes": process.rss_bytes,
                "log": _collected(server),
            }
            for server, process in self._of_nodes()
        ]

    def _of_nodes(self) -> list[tuple[Server, Process]]:
        pairs = zip(self._servers, self._processes, strict=True)
        return [(server, process) for server, process in pairs if not server.helper]

    def _run(self, server: Server) -> Process:
        return server.host.start(
            server.label, server.argv, env=server.env, log=server.log, cwd=server.folder
        )

    def _await(self, servers: Sequence[Server], timeout_s: float, enough: int) -> None:
        deadline = time.monotonic() + timeout_s
        waiting = list(servers)
        while len(servers) - len(waiting) < enough:
            for spot in {server.host.name: server.spot for server in servers}.values():
                spot.host.check_room(spot.folder)
            self._check_starting()
            waiting = [server for server in waiting if not self._says(server, server.ready)]
            self._restart_hanging(waiting)
            if waiting and time.monotonic() > deadline:
                raise SystemFault(
                    f"{self._named(waiting[0])} is not ready after {timeout_s:g} s;"
                    f" {last_lines(waiting[0].host, waiting[0].log, self._redact)}"
                )
            time.sleep(POLL_S)

    def _check_starting(self) -> None:
        for position, server in enumerate(self._servers):
            process = self._processes[position]
            ended = not process.alive  # asked first: then its log is whole
            if self._says(server, server.taken):
                raise PortTakenError(
                    f"a port was taken while {self._named(server)} started;"
                    f" repeat the command; {last_lines(server.host, server.log, self._redact)}"
                )
            if ended and not self._again(position, "died"):
                check_alive(server.host, process, self._named(server), self._redact)

    def _restart_hanging(self, waiting: Sequence[Server]) -> None:
        """End and start again who has been starting for longer than its patience."""
        for server in waiting:
            position = self._servers.index(server)
            if time.monotonic() - self._began[position] > server.patience_s:
                self._processes[position].stop(STOP_GRACE_S)
                self._again(position, "hung")

    def _again(self, position: int, fate: str) -> bool:
        """Start a server again, unless that was done as often as it may; say whether."""
        server = self._servers[position]
        incident = f"{server.label} {fate} while it started, and was started again"
        if self.incidents.count(incident) >= server.restarts:
            return False
        self.incidents.append(incident)
        self._processes[position] = self._run(server)
        self._began[position] = time.monotonic()
        return True

    def _says(self, server: Server, signs: Sequence[str]) -> bool:
        log = text(server.host, server.log)
        return any(sign in log for sign in signs)

    def _named(self, server: Server) -> str:
        name = server.label if server.label == self._title else f"{self._title}'s {server.label}"
        return name if server.host.name == HERE else f"{name} on {server.host.name}"


T = TypeVar("T")
Launch = Callable[[Servers, tuple[int, ...], Sequence[Spot]], T]
"""Starts servers on the ports, with everything in these folders, and gives what became of them."""


@dataclass(frozen=True, slots=True)
class Site:
    """Where a system gets its servers, and how errors call it; ``redact`` takes out its secrets.

    Its ``nodes`` are on the hosts of ``spots`` in their order; with fewer, a host has several.
    """

    title: str
    spots: Sequence[Spot]
    nodes: int = 1
    redact: Redact = str

    @contextmanager
    def launched(self, ports: int, launch: Launch[T]) -> Iterator[T]:
        """Give what ``launch`` gives, and end its servers afterwards.

        When a port was taken in the meantime, or ``launch`` raises another ``AgainError``, it tries
        once more, with other ports.  Raises what ``Servers.start`` and ``launch`` raise.
        """
        with ExitStack() as stack:
            try:
                result = stack.enter_context(self._attempt(ports, launch, "servers"))
            except AgainError:
                result = stack.enter_context(self._attempt(ports, launch, "servers-again"))
            yield result

    @contextmanager
    def _attempt(self, ports: int, launch: Launch[T], name: str) -> Iterator[T]:
        spots = [self.spots[number % len(self.spots)].within(name) for number in range(self.nodes)]
        with common_ports([spot.host for spot in spots], ports) as block, ExitStack() as stack:
            servers = Servers(self.title, self.redact)
            stack.callback(servers.stop)
            yield launch(servers, block, spots)


def _collected(server: Server) -> str:
    """The name of its log in a run folder."""
    return f"{server.folder.name}.log"

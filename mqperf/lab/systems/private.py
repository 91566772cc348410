"""Private servers: started on free ports for one deployment, monitored, and ended with it."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeVar

from pydantic import JsonValue

from mqperf.base.closing import ChainedExitStack
from mqperf.base.errors import SystemFault
from mqperf.hosts import HERE, HostFolder, common_ports, stop_all
from mqperf.lab.systems.evidence import Redact, last_lines
from mqperf.lab.systems.service import Server, Service
from mqperf.lab.systems.system import Node
from mqperf.record import disk_errors

POLL_S = 0.05


class AgainError(SystemFault):
    """A start that failed by chance, and may succeed with other ports."""


class PortTakenError(AgainError):
    """Another process took one of the chosen ports before the server started."""


class Servers:
    """The servers of one deployment, in the order of their start."""

    def __init__(self, title: str, redact: Redact = str) -> None:
        """Begin without servers; ``redact`` replaces the system's secrets in a text."""
        self._title = title
        self._redact = redact
        self._services: list[Service] = []
        self.incidents: list[str] = []

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Every server except helpers as a node, with its current process."""
        return tuple(
            Node(
                service.server.label,
                service.server.name,
                service.process,
                service.server.host,
                service,
                service.server.inside,
            )
            for service in self._node_services()
        )

    def start(
        self, servers: Sequence[Server], timeout_s: float, *, enough: int | None = None
    ) -> None:
        """Start more servers in parallel, and return when ``enough`` (or all) of them are ready.

        Raises ``PortTakenError``, or ``SystemFault``, with the end of its log, for a server that
        ended or was not ready in time.
        """
        started = []
        for server in servers:
            started.append(Service(server))
            self._services.append(started[-1])
        self._await_ready(started, timeout_s, len(started) if enough is None else enough)

    def stop(self) -> None:
        """Kill all servers, helpers last: their data need not be saved, as folders are removed."""
        with ChainedExitStack() as stops:  # stops helpers even when the host of a node is lost
            for helper in (True, False):
                of_kind = [each for each in self._services if each.server.helper == helper]
                stops.callback(stop_all, [each.process for each in of_kind], grace_s=0)

    def check(self) -> None:
        """Raise ``SystemFault`` for the first node that is dead, with the end of its log.

        A node that was ended on purpose is not reported.
        """
        for service in self._node_services():
            if not service.down:
                self._check_alive(service)

    def collect(self, folder: Path) -> None:
        """Write each server's files and what it has logged since the last call, redacted."""
        with ChainedExitStack() as collects:  # continues when one server's log cannot be read
            for service in self._services:
                collects.callback(self._collect, service, folder)

    def _collect(self, service: Service, folder: Path) -> None:
        server = service.server
        stem = server.folder.name
        with disk_errors(folder):
            for name, content in server.files.items():
                copy = folder / f"{stem}-{Path(name).name}"
                copy.write_text(self._redact(content), encoding="utf-8")
            logged = self._redact(service.reader.read_on())
            (folder / _log_name(server)).write_text(logged, encoding="utf-8")

    def facts(self) -> list[dict[str, JsonValue]]:
        """Return name, host, memory and log of each node."""
        return [
            {
                "label": service.server.label,
                "name": service.server.name,
                "host": service.server.host.name,
                "rss_bytes": service.process.rss_bytes,
                "log": _log_name(service.server),
            }
            for service in self._node_services()
        ]

    def _node_services(self) -> list[Service]:
        return [service for service in self._services if not service.server.helper]

    def _await_ready(self, starting: Sequence[Service], timeout_s: float, enough: int) -> None:
        deadline = time.monotonic() + timeout_s
        waiting = list(starting)
        while len(starting) - len(waiting) < enough:
            for host_folder in {
                service.server.host.name: service.server.host_folder for service in starting
            }.values():
                host_folder.host.check_room(host_folder.folder)
            self.check_starting()
            waiting = [service for service in waiting if not service.serves]
            self._restart_hanging(waiting)
            if waiting and time.monotonic() > deadline:
                server = waiting[0].server
                raise SystemFault(
                    f"{self._full_name(server)} is not ready after {timeout_s:g} s;"
                    f" {last_lines(server.host, server.log, self._redact)}"
                )
            time.sleep(POLL_S)

    def check_starting(self) -> None:
        """Raise ``PortTakenError`` or ``SystemFault`` for a server that ended while it started."""
        for service in self._services:
            server = service.server
            ended = not service.process.alive  # checked first: then its log is complete
            if service.says(server.taken):
                raise PortTakenError(
                    f"a port was taken while {self._full_name(server)} started;"
                    f" repeat the command; {last_lines(server.host, server.log, self._redact)}"
                )
            if ended and not self._restart(service, "died"):
                self._check_alive(service)

    def _restart_hanging(self, waiting: Sequence[Service]) -> None:
        """Restart servers that have been starting for longer than ``patience_s``."""
        for service in waiting:
            if time.monotonic() - service.began > service.server.patience_s:
                self._restart(service, "hung")

    def _restart(self, service: Service, fate: str) -> bool:
        """Restart a server up to its number of ``restarts``; return whether it was restarted."""
        server = service.server
        incident = f"{server.label} {fate} while it started, and was started again"
        if self.incidents.count(incident) >= server.restarts:
            return False
        self.incidents.append(incident)
        service.start_again()
        return True

    def _check_alive(self, service: Service) -> None:
        """Raise ``SystemFault`` with the last lines of its log when the server has ended."""
        server, code = service.server, service.process.poll()
        if code is not None:
            how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
            last = last_lines(server.host, server.log, self._redact)
            raise SystemFault(f"{self._full_name(server)} {how}; {last}")

    def _full_name(self, server: Server) -> str:
        name = server.label if server.label == self._title else f"{self._title}'s {server.label}"
        return name if server.host.name == HERE else f"{name} on {server.host.name}"


@dataclass(frozen=True, slots=True)
class PrivateDeployment:
    """The common base of deployments of private servers, which are its nodes.

    ``about`` has product, versions, and the configuration of the first server.
    """

    servers: Servers
    about: Mapping[str, JsonValue]
    ends_with_us: ClassVar[bool] = True

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Every server except helpers."""
        return self.servers.nodes

    def facts(self) -> dict[str, JsonValue]:
        """Return ``about``, incidents during the start, and the facts of every node."""
        by_label = {str(node["label"]): node for node in self.servers.facts()}
        facts: dict[str, JsonValue] = {**self.about}
        facts["nodes"] = [by_label[node.label] for node in self.nodes]
        if self.servers.incidents:
            facts["incidents"] = [*self.servers.incidents]
        return facts

    def check(self) -> None:
        """Raise ``SystemFault`` for the first server that is dead, with the end of its log."""
        self.servers.check()

    def collect(self, folder: Path) -> None:
        """Copy every server's configuration and the run's part of its log, without secrets."""
        self.servers.collect(folder)


T = TypeVar("T")
Launch = Callable[[Servers, tuple[int, ...], Sequence[HostFolder]], T]
"""Starts servers on the ports, with all files in these folders, and returns the deployment."""


@dataclass(frozen=True, slots=True)
class ServerLauncher:
    """Starts the servers of a system, called ``title`` in errors; ``redact`` replaces its secrets.

    ``nodes`` servers are distributed round-robin over the hosts of ``host_folders``.
    """

    title: str
    host_folders: Sequence[HostFolder]
    nodes: int = 1
    redact: Redact = str

    @contextmanager
    def launched(self, ports: int, launch: Launch[T]) -> Iterator[T]:
        """Yield the result of ``launch``, and end its servers afterwards.

        When a port was taken in the meantime, or ``launch`` raises another ``AgainError``, it is
        called once more, with other ports.  Raises what ``Servers.start`` and ``launch`` raise.
        """
        with ChainedExitStack() as stack:
            try:
                result = stack.enter_context(self._attempt(ports, launch, "servers"))
            except AgainError:
                result = stack.enter_context(self._attempt(ports, launch, "servers-again"))
            yield result

    @contextmanager
    def _attempt(self, ports: int, launch: Launch[T], name: str) -> Iterator[T]:
        host_folders = [
            self.host_folders[number % len(self.host_folders)].within(name)
            for number in range(self.nodes)
        ]
        with (
            common_ports([host_folder.host for host_folder in host_folders], ports) as block,
            ChainedExitStack() as stack,
        ):
            servers = Servers(self.title, self.redact)
            stack.callback(servers.stop)
            yield launch(servers, block, host_folders)


def _log_name(server: Server) -> str:
    """Return the name of the server's log in a run folder."""
    return f"{server.folder.name}.log"

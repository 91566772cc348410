"""Private servers: started on free ports for one system, watched, and ended with us."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeVar

from pydantic import JsonValue

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
    """Somebody took one of our ports between the choice and the start."""


class Servers:
    """The servers of one system, in the order of their start."""

    def __init__(self, title: str, redact: Redact = str) -> None:
        """Begin with none; ``redact`` takes the system's secrets out of a text."""
        self._title = title
        self._redact = redact
        self._services: list[Service] = []
        self.incidents: list[str] = []

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Every server that is no helper as a node, with the process that it has now."""
        return tuple(
            Node(
                service.server.label,
                service.server.name,
                service.process,
                service.server.host,
                service,
                service.server.inside,
            )
            for service in self._of_nodes()
        )

    def start(
        self, servers: Sequence[Server], timeout_s: float, *, enough: int | None = None
    ) -> None:
        """Start some more servers at once, and return when ``enough`` (or all) of them serve.

        Raises ``PortTakenError``, or ``SystemFault`` for one that ended or did not serve in time,
        with the end of its log.
        """
        started = []
        for server in servers:
            started.append(Service(server))
            self._services.append(started[-1])
        self._await(started, timeout_s, len(started) if enough is None else enough)

    def stop(self) -> None:
        """End all of them, helpers last, at once: what they would save goes with their folders."""
        with ExitStack() as both:  # helpers, too, when the host of a node is lost
            for helper in (True, False):
                of_kind = [each for each in self._services if each.server.helper == helper]
                both.callback(stop_all, [each.process for each in of_kind], grace_s=0)

    def check(self) -> None:
        """Raise ``SystemFault`` for the first node that is dead, with the end of its log.

        One that is down on purpose is not.
        """
        for service in self._of_nodes():
            if not service.down:
                self._check_alive(service)

    def collect(self, folder: Path) -> None:
        """Write each server's files and what it has logged since the last call, redacted."""
        with ExitStack() as each:  # the others, too, when one cannot be read
            for service in self._services:
                each.callback(self._collect, service, folder)

    def _collect(self, service: Service, folder: Path) -> None:
        server = service.server
        stem = server.folder.name
        with disk_errors(folder):
            for name, content in server.files.items():
                copy = folder / f"{stem}-{Path(name).name}"
                copy.write_text(self._redact(content), encoding="utf-8")
            logged = self._redact(service.reader.read_on())
            (folder / _collected(server)).write_text(logged, encoding="utf-8")

    def facts(self) -> list[dict[str, JsonValue]]:
        """Name, host, memory and log of each node."""
        return [
            {
                "label": service.server.label,
                "name": service.server.name,
                "host": service.server.host.name,
                "rss_bytes": service.process.rss_bytes,
                "log": _collected(service.server),
            }
            for service in self._of_nodes()
        ]

    def _of_nodes(self) -> list[Service]:
        return [service for service in self._services if not service.server.helper]

    def _await(self, starting: Sequence[Service], timeout_s: float, enough: int) -> None:
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
                    f"{self._named(server)} is not ready after {timeout_s:g} s;"
                    f" {last_lines(server.host, server.log, self._redact)}"
                )
            time.sleep(POLL_S)

    def check_starting(self) -> None:
        """Raise ``PortTakenError`` or ``SystemFault`` for a server that ended while it started."""
        for service in self._services:
            server = service.server
            ended = not service.process.alive  # asked first: then its log is whole
            if service.says(server.taken):
                raise PortTakenError(
                    f"a port was taken while {self._named(server)} started;"
                    f" repeat the command; {last_lines(server.host, server.log, self._redact)}"
                )
            if ended and not self._again(service, "died"):
                self._check_alive(service)

    def _restart_hanging(self, waiting: Sequence[Service]) -> None:
        """End and start again who has been starting for longer than its patience."""
        for service in waiting:
            if time.monotonic() - service.began > service.server.patience_s:
                self._again(service, "hung")

    def _again(self, service: Service, fate: str) -> bool:
        """Start a server again, unless that was done as often as it may; say whether."""
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
            raise SystemFault(f"{self._named(server)} {how}; {last}")

    def _named(self, server: Server) -> str:
        name = server.label if server.label == self._title else f"{self._title}'s {server.label}"
        return name if server.host.name == HERE else f"{name} on {server.host.name}"


@dataclass(frozen=True, slots=True)
class PrivateDeployment:
    """What every deployment of private servers does alike; they are its nodes.

    ``about`` says what they are, and how the first is configured.
    """

    servers: Servers
    about: Mapping[str, JsonValue]
    ends_with_us: ClassVar[bool] = True

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Every server that is no helper."""
        return self.servers.nodes

    def facts(self) -> dict[str, JsonValue]:
        """What they are, what happened while they started, and the memory of every node."""
        by_label = {str(facts["label"]): facts for facts in self.servers.facts()}
        told: dict[str, JsonValue] = {**self.about}
        told["nodes"] = [by_label[node.label] for node in self.nodes]
        if self.servers.incidents:
            told["incidents"] = [*self.servers.incidents]
        return told

    def check(self) -> None:
        """Raise ``SystemFault`` for the first server that is dead, with the end of its log."""
        self.servers.check()

    def collect(self, folder: Path) -> None:
        """Copy every server's configuration and the run's part of its log, without secrets."""
        self.servers.collect(folder)


T = TypeVar("T")
Launch = Callable[[Servers, tuple[int, ...], Sequence[HostFolder]], T]
"""Starts servers on the ports, with everything in these folders, and gives what became of them."""


@dataclass(frozen=True, slots=True)
class ServerLauncher:
    """Where a system gets its servers, and how errors call it; ``redact`` takes out its secrets.

    Its ``nodes`` are on the hosts of ``host_folders`` in their order; of fewer, some have several.
    """

    title: str
    host_folders: Sequence[HostFolder]
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
        host_folders = [
            self.host_folders[number % len(self.host_folders)].within(name)
            for number in range(self.nodes)
        ]
        with (
            common_ports([host_folder.host for host_folder in host_folders], ports) as block,
            ExitStack() as stack,
        ):
            servers = Servers(self.title, self.redact)
            stack.callback(servers.stop)
            yield launch(servers, block, host_folders)


def _collected(server: Server) -> str:
    """The name of its log in a run folder."""
    return f"{server.folder.name}.log"

"""The common parts of servers that are written in Java, and of how they are started."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from mqperf.hosts import HostFolder
from mqperf.lab.probes import Inside
from mqperf.lab.systems.service import Server
from mqperf_java.lab.java import ENVIRONMENT, Java, JavaSettings
from mqperf_java.lab.logging import Logging


class Agent(Protocol):
    """A Java agent that exposes internal metrics of a server."""

    @property
    def option(self) -> str:
        """The option by which Java starts it."""
        ...

    @property
    def files(self) -> Mapping[str, str]:
        """The files that it reads."""
        ...

    def inside(self, node: str) -> Inside:
        """Return where the server of that label exposes its metrics."""
        ...


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools of servers on a host: Java and its settings, an unpacked archive, jars."""

    java: Java
    home: Path
    settings: JavaSettings
    jars: Sequence[Path]

    @property
    def class_path(self) -> tuple[str, str]:
        """The option with the class path of all jars."""
        return "-classpath", ":".join(map(str, self.jars))


@dataclass(frozen=True, slots=True)
class ServerPlace:
    """The place of a server: its label, its folder on a host, and the port for clients.

    With an ``agent`` it exposes internal metrics.
    """

    label: str
    host_folder: HostFolder
    port: int
    agent: Agent | None = None


@dataclass(frozen=True, slots=True)
class Peers:
    """A group of servers: the places of all, and their ``ports`` for each other."""

    places: Sequence[ServerPlace]
    ports: Sequence[int] = ()

    def peer(self, index: int) -> str:
        """Return the address of a server for the others."""
        return f"{self.places[index].host_folder.host.address}:{self.ports[index]}"


def server(  # noqa: PLR0913 (what differs between them)
    tools: Tools,
    place: ServerPlace,
    words: Iterable[str],
    *,
    properties: Mapping[str, object],
    logging: Logging,
    ready: tuple[str, ...],
    files: Mapping[str, str],
) -> Server:
    """Return a server with ``words`` after Java's options; ``ready`` are its log lines when up."""
    folder, agent = place.host_folder.folder, place.agent
    all_properties = {**properties, **logging.properties(folder)}
    return Server(
        label=place.label,
        name=f"{place.host_folder.host.address}:{place.port}",
        host_folder=place.host_folder,
        argv=(
            *tools.java.command(folder, tools.settings, all_properties),
            *(() if agent is None else (agent.option,)),
            *words,
        ),
        env=ENVIRONMENT,
        ready=ready,
        taken=("Address already in use",),
        files={**files, **logging.files, **({} if agent is None else agent.files)},
        inside=None if agent is None else agent.inside(place.label),
    )


def opened(*packages: str) -> list[str]:
    """Return the options that open packages of ``java.base`` to reflection."""
    return [part for name in packages for part in ("--add-opens", f"java.base/{name}=ALL-UNNAMED")]

"""Servers that are written in Java: what they are started with, and what all have in common."""

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
    """What makes a server tell of its inside."""

    @property
    def option(self) -> str:
        """The option that has Java start it."""
        ...

    @property
    def files(self) -> Mapping[str, str]:
        """What it reads."""
        ...

    def inside(self, node: str) -> Inside:
        """Where the server of that label tells of its inside."""
        ...


@dataclass(frozen=True, slots=True)
class Tools:
    """What servers of a host are started with: Java and its settings, an unpacked archive, jars."""

    java: Java
    home: Path
    settings: JavaSettings
    jars: Sequence[Path]

    @property
    def class_path(self) -> tuple[str, str]:
        """The option that has Java find all jars."""
        return "-classpath", ":".join(map(str, self.jars))


@dataclass(frozen=True, slots=True)
class ServerPlace:
    """Where a server is: its label, its folder on a host, and the port for clients.

    With an ``agent`` it tells of its inside.
    """

    label: str
    host_folder: HostFolder
    port: int
    agent: Agent | None = None


@dataclass(frozen=True, slots=True)
class Peers:
    """Servers together: where each is for clients, and by ``ports`` for the others."""

    places: Sequence[ServerPlace]
    ports: Sequence[int] = ()

    def peer(self, index: int) -> str:
        """Where a server is reached by the others."""
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
    """A server whose command has these words after those of Java, and ``ready`` in its log."""
    folder, agent = place.host_folder.folder, place.agent
    defined = {**properties, **logging.properties(folder)}
    return Server(
        label=place.label,
        name=f"{place.host_folder.host.address}:{place.port}",
        host_folder=place.host_folder,
        argv=(
            *tools.java.command(folder, tools.settings, defined),
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
    """The options that open packages of Java's base to all that ask."""
    return [word for name in packages for word in ("--add-opens", f"java.base/{name}=ALL-UNNAMED")]

"""The specification of a private ZooKeeper ensemble, from the jars that a broker brings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mqperf.hosts import Host, Spot
from mqperf.lab.systems.java import ENVIRONMENT, Java
from mqperf.lab.systems.java.logging import Logging, log4j2
from mqperf.lab.systems.service import Server

LABELS = ("ZooKeeper 1", "ZooKeeper 2", "ZooKeeper 3")
SIZE = len(LABELS)
PORTS = 3 * SIZE
"""Every server has a port for clients, one for its peers, and one for elections."""

HEAP_MB = 64


@dataclass(frozen=True, slots=True)
class Edition:
    """One version: its jars on a host, what a server says that leads or follows, its logging."""

    jars: Callable[[Host], Sequence[Path]]
    ready: tuple[str, ...] = ("leading - broadcast", "following - broadcast")
    logging: Logging = field(default_factory=lambda: log4j2({}))


def ensemble(
    java: Mapping[str, Java], edition: Edition, places: Sequence[Spot], ports: Sequence[int]
) -> list[Server]:
    """Give three servers, to be started at once; each is ready when it leads or follows.

    ``java`` is that of each host by its name.
    """
    return [
        _server(java[spot.host.name], edition, index, places, ports)
        for index, spot in enumerate(places)
    ]


def version(home: Path) -> str:
    """The version by the name of the jar that a broker brings."""
    [jar] = (home / "lib").glob("zookeeper-[0-9]*.jar")
    return jar.stem.partition("-")[2]


def connect_string(places: Sequence[Spot], ports: Sequence[int]) -> str:
    """Where clients find the ensemble."""
    pairs = zip(places, ports[:SIZE], strict=True)
    return ",".join(f"{spot.host.address}:{port}" for spot, port in pairs)


def _server(
    java: Java, edition: Edition, index: int, places: Sequence[Spot], ports: Sequence[int]
) -> Server:
    spot = places[index].within(f"zookeeper{index + 1}")
    folder = spot.folder
    properties = {
        "zookeeper.admin.enableServer": "false",
        "zookeeper.jmx.log4j.disable": "true",
        **edition.logging.properties(folder),
    }
    return Server(
        label=LABELS[index],
        name=f"{spot.host.address}:{ports[index]}",
        spot=spot,
        argv=(
            *java.command(folder, HEAP_MB, properties),
            *("-classpath", ":".join(map(str, edition.jars(spot.host)))),
            *("org.apache.zookeeper.server.quorum.QuorumPeerMain", str(folder / "zoo.cfg")),
        ),
        env=ENVIRONMENT,
        ready=edition.ready,
        taken=("Address already in use",),
        files={
            "zoo.cfg": configuration(folder, places, ports, index),
            "data/myid": f"{index + 1}\n",
            **edition.logging.files,
        },
    )


def configuration(folder: Path, places: Sequence[Spot], ports: Sequence[int], index: int) -> str:
    """Write a server's zoo.cfg."""
    lines = [
        "tickTime=1000",
        "initLimit=10",
        "syncLimit=5",
        f"dataDir={folder / 'data'}",
        f"clientPort={ports[index]}",
        f"clientPortAddress={places[index].host.address}",
        "maxClientCnxns=0",
    ]
    for number in range(SIZE):
        peer, election = ports[SIZE + number], ports[2 * SIZE + number]
        lines.append(f"server.{number + 1}={places[number].host.address}:{peer}:{election}")
    return "\n".join(lines) + "\n"

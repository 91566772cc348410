"""The specification of a private ZooKeeper ensemble, from the jars that a broker brings."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mqperf.systems.java import ENVIRONMENT, Java
from mqperf.systems.java_logging import Logging, log4j2
from mqperf.systems.private import Server

SIZE = 3
PORTS = 3 * SIZE
"""Every server has a port for clients, one for its peers, and one for elections."""

HEAP_MB = 64


@dataclass(frozen=True, slots=True)
class Edition:
    """The jars of one version, what its log says when a server leads or follows, its logging."""

    jars: Sequence[Path]
    ready: tuple[str, ...] = ("leading - broadcast", "following - broadcast")
    logging: Logging = field(default_factory=lambda: log4j2({}))


def ensemble(java: Java, edition: Edition, place: Path, ports: Sequence[int]) -> list[Server]:
    """Give three servers, to be started at once; each is ready when it leads or follows."""
    return [_server(java, edition, place / f"zookeeper{n + 1}", n, ports) for n in range(SIZE)]


def version(home: Path) -> str:
    """The version by the name of the jar that a broker brings."""
    [jar] = (home / "lib").glob("zookeeper-[0-9]*.jar")
    return jar.stem.partition("-")[2]


def connect_string(ports: Sequence[int]) -> str:
    """Where clients find the ensemble."""
    return ",".join(f"127.0.0.1:{port}" for port in ports[:SIZE])


def _server(java: Java, edition: Edition, folder: Path, index: int, ports: Sequence[int]) -> Server:
    properties = {
        "zookeeper.admin.enableServer": "false",
        "zookeeper.jmx.log4j.disable": "true",
        **edition.logging.properties(folder),
    }
    return Server(
        label=f"ZooKeeper {index + 1}",
        name=f"127.0.0.1:{ports[index]}",
        folder=folder,
        argv=(
            *java.command(folder, HEAP_MB, properties),
            *("-classpath", ":".join(str(jar) for jar in edition.jars)),
            *("org.apache.zookeeper.server.quorum.QuorumPeerMain", str(folder / "zoo.cfg")),
        ),
        env=ENVIRONMENT,
        ready=edition.ready,
        taken=("Address already in use",),
        files={
            "zoo.cfg": configuration(folder, ports, index),
            "data/myid": f"{index + 1}\n",
            **edition.logging.files,
        },
    )


def configuration(folder: Path, ports: Sequence[int], index: int) -> str:
    """Write a server's zoo.cfg."""
    lines = [
        "tickTime=1000",
        "initLimit=10",
        "syncLimit=5",
        f"dataDir={folder / 'data'}",
        f"clientPort={ports[index]}",
        "clientPortAddress=127.0.0.1",
        "maxClientCnxns=0",
    ]
    for number in range(SIZE):
        peer, election = ports[SIZE + number], ports[2 * SIZE + number]
        lines.append(f"server.{number + 1}=127.0.0.1:{peer}:{election}")
    return "\n".join(lines) + "\n"

"""A private ZooKeeper ensemble, from the jars that a broker ships."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mqperf.hosts import HostFolder
from mqperf.lab.systems.service import Server
from mqperf_java.lab.java import JavaSettings
from mqperf_java.lab.logging import Logging, log4j2
from mqperf_java.lab.servers import ServerPlace, Tools, server

LABELS = ("ZooKeeper 1", "ZooKeeper 2", "ZooKeeper 3")
SIZE = len(LABELS)
PORTS = 3 * SIZE
"""Every server has a port for clients, one for its peers, and one for elections."""

SETTINGS = JavaSettings(heap_mb=64)
MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
PROPERTIES = {"zookeeper.admin.enableServer": "false", "zookeeper.jmx.log4j.disable": "true"}
LOGGING = log4j2({})
JAR = re.compile(r"zookeeper-(\d.*)\.jar")


@dataclass(frozen=True, slots=True)
class Keepers:
    """The log texts of servers of a version that lead or follow, and their logging."""

    ready: tuple[str, ...] = ("leading - broadcast", "following - broadcast")
    logging: Logging = LOGGING


def ensemble(
    tools: Mapping[str, Tools],
    keepers: Keepers,
    host_folders: Sequence[HostFolder],
    ports: Sequence[int],
) -> list[Server]:
    """Return three servers, to be started together; each is ready when it leads or follows.

    ``tools`` has the tools of each host by its name.
    """
    servers = []
    for index, host_folder in enumerate(host_folders):
        keeper_tools = replace(tools[host_folder.host.name], settings=SETTINGS)
        place = ServerPlace(
            LABELS[index], host_folder.within(f"zookeeper{index + 1}"), ports[index]
        )
        folder = place.host_folder.folder
        servers.append(
            server(
                keeper_tools,
                place,
                (*keeper_tools.class_path, MAIN, str(folder / "zoo.cfg")),
                properties=PROPERTIES,
                logging=keepers.logging,
                ready=keepers.ready,
                files={
                    "zoo.cfg": configuration(folder, host_folders, ports, index),
                    "data/myid": f"{index + 1}\n",
                },
            )
        )
    return servers


def version(tools: Tools) -> str:
    """Return the version in the name of ZooKeeper's jar."""
    [match] = filter(None, (JAR.fullmatch(jar.name) for jar in tools.jars))
    return match[1]


def connect_string(host_folders: Sequence[HostFolder], ports: Sequence[int]) -> str:
    """Return the connect string for clients; empty without ports."""
    pairs = zip(host_folders, ports[:SIZE], strict=False)
    return ",".join(f"{host_folder.host.address}:{port}" for host_folder, port in pairs)


def configuration(
    folder: Path, host_folders: Sequence[HostFolder], ports: Sequence[int], index: int
) -> str:
    """Return a server's zoo.cfg."""
    lines = [
        "tickTime=1000",
        "initLimit=10",
        "syncLimit=5",
        f"dataDir={folder / 'data'}",
        f"clientPort={ports[index]}",
        f"clientPortAddress={host_folders[index].host.address}",
        "maxClientCnxns=0",
    ]
    for number in range(SIZE):
        peer, election = ports[SIZE + number], ports[2 * SIZE + number]
        lines.append(f"server.{number + 1}={host_folders[number].host.address}:{peer}:{election}")
    return "\n".join(lines) + "\n"

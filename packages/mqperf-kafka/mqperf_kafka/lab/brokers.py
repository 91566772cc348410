"""Brokers of Kafka in KRaft mode: each is also a controller, a node of the metadata quorum."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from mqperf.hosts import Host, HostFolder
from mqperf.lab.systems.service import Server
from mqperf_java.hosts.jars import Jars
from mqperf_java.lab.java import JavaSettings, installed_java
from mqperf_java.lab.logging import log4j2
from mqperf_java.lab.servers import Peers, ServerPlace, Tools, server

VERSION = "4.1.0"
FILES = Path(__file__).parents[1] / "hosts"
JARS = Jars(f"Kafka {VERSION}", FILES / "pom.xml", FILES / f"kafka-{VERSION}.txt")
OLDEST_JAVA = 17

MAIN = "kafka.Kafka"
CONFIG = "server.properties"
LOGGING = log4j2({})
CLUSTER = "bXFwZXJmLW1xcGVyZi1tcQ"
"""The cluster's id: any 16 bytes in base 64."""


def installed(host: Host) -> str:
    """Return the version; raises ``SystemFault`` if Java is missing, or jars are not available."""
    java = installed_java(OLDEST_JAVA, host)
    JARS.available()
    return f"{VERSION}, on Java {java.version}"


def tools_on(host: Host, settings: JavaSettings) -> Tools:
    """Return the tools of brokers on a host; fetch the jars, and copy them there if necessary."""
    java, home = installed_java(OLDEST_JAVA, host), host.copied(JARS.fetched())
    return Tools(java, home, settings, [home / name for name in sorted(JARS.pinned)])


def configuration(group: Peers, index: int) -> Mapping[str, object]:
    """Return the properties of a broker; with three, two must have a message to confirm it."""
    place, size = group.places[index], len(group.places)
    folder, own = place.host_folder.folder, f"{place.host_folder.host.address}:{place.port}"
    voters = (f"{number + 1}@{group.peer(number)}" for number in range(size))
    return {
        "process.roles": "broker,controller",
        "node.id": index + 1,
        "controller.quorum.voters": ",".join(voters),
        "controller.listener.names": "CONTROLLER",
        "listeners": f"PLAINTEXT://{own},CONTROLLER://{group.peer(index)}",
        "advertised.listeners": f"PLAINTEXT://{own}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs": folder / "data",
        "auto.create.topics.enable": "false",
        "default.replication.factor": size,
        "min.insync.replicas": min(size, 2),
        "offsets.topic.num.partitions": 1,
        "offsets.topic.replication.factor": size,
        # Consumer groups form at once, and files of removed topics are deleted after 1 s.
        "group.initial.rebalance.delay.ms": 0,
        "log.segment.delete.delay.ms": 1000,
    }


def broker(tools: Tools, group: Peers, index: int) -> Server:
    """Return a broker of a group, with its folder formatted as by Kafka's own tool."""
    place = group.places[index]
    lines = [f"{name}={value}" for name, value in configuration(group, index).items()]
    metadata = ("version=1", f"cluster.id={CLUSTER}", f"node.id={index + 1}")
    unformatted = server(
        tools,
        place,
        (*tools.class_path, MAIN, str(place.host_folder.folder / CONFIG)),
        properties={},
        logging=LOGGING,
        ready=("Kafka Server started",),
        files={CONFIG: "\n".join(lines) + "\n"},
    )
    files = {**unformatted.files, "data/meta.properties": "\n".join(metadata) + "\n"}
    return replace(unformatted, files=files)


def places(
    labels: Sequence[str], host_folders: Sequence[HostFolder], ports: Sequence[int]
) -> list[ServerPlace]:
    """Return the places of brokers, each with a folder of its own."""
    return [
        ServerPlace(label, host_folder.within(label.lower().replace(" ", "")), port)
        for label, host_folder, port in zip(labels, host_folders, ports, strict=True)
    ]

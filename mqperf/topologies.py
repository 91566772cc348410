"""The words for who connects where, and through which kind of queue.

One entry per topology and per kind of queue: names, and the phrases by which titles, tables and
figures tell them apart.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Topology:
    """Who connects where: ``client`` and ``server`` are positions among the system's nodes."""

    name: str
    client: int
    server: int
    title: str
    label: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Queues:
    """A kind of queue, and the words by which reports tell it from the others."""

    name: str
    title: str
    label: str
    suffix: str
    sentence: str


TOPOLOGIES = {
    "cmsm": Topology(
        name="cmsm",
        client=0,
        server=0,
        title="Client and Server connected to Master",
        label="Client -> Master, Server -> Master",
        sentence="Client and server are both connected to the Master node.",
    ),
    "cs1ss2": Topology(
        name="cs1ss2",
        client=1,
        server=2,
        title="Client -> Slave-1, Server -> Slave-2",
        label="Client -> Slave-1, Server -> Slave-2",
        sentence="Client and server are connected to different slave nodes.",
    ),
    "direct": Topology(
        name="direct",
        client=0,
        server=0,
        title="Client -> Server",
        label="Client -> Server",
        sentence="Clients send to servers directly: there is no broker between them.",
    ),
    "single": Topology(
        name="single",
        client=0,
        server=0,
        title="Client and Server connected to a single Broker",
        label="Client -> Broker, Server -> Broker",
        sentence="Client and server are both connected to the only broker.",
    ),
    "primary": Topology(
        name="primary",
        client=0,
        server=0,
        title="Client and Server connected to Primary",
        label="Client -> Primary, Server -> Primary",
        sentence="Client and server are both connected to the primary; backups wait to take over.",
    ),
}

QUEUES = {
    "classic": Queues("classic", "", "", "", "Queues are classic and not mirrored."),
    "mirrored": Queues(
        "mirrored",
        ", HA queues enabled",
        " (HA)",
        "-ha",
        "HA queues are enabled: every queue is mirrored to all nodes.",
    ),
    "quorum": Queues(
        "quorum",
        ", quorum queues",
        " (quorum)",
        "-quorum",
        "Queues are quorum queues, replicated by Raft to all nodes.",
    ),
    "ha": Queues(
        "ha",
        ", replicated queues",
        " (replicated where possible)",
        "-ha-any",
        "Queues are replicated to all nodes: mirrored before RabbitMQ 4, quorum queues since.",
    ),
    "none": Queues("none", "", "", "", "No queues but those of the processes themselves."),
    "replicated": Queues(
        "replicated",
        ", replicated queues",
        " (replicated)",
        "-replicated",
        "Queues are replicated to a backup, as far as messages are durable.",
    ),
}

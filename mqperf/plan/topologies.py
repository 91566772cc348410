"""Topologies, which say who connects where, and kinds of queue.

One entry per topology and per kind of queue: names, and the phrases that distinguish them in
titles, tables and figures.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from typing_extensions import override

from mqperf.base.errors import PlanError
from mqperf.base.registry import Registry


@dataclass(frozen=True, slots=True)
class Topology:
    """Who connects where: ``client`` and ``server`` are indexes of the system's nodes.

    With ``any_node`` they know the other nodes, too, and connect to those in turn or at random.
    ``nodes`` are the nodes' names, where the name of the topology implies them; ``place`` is its
    sort key in lists.
    """

    name: str
    title: str
    label: str
    sentence: str
    client: int = 0
    server: int = 0
    any_node: bool = False
    nodes: tuple[str, ...] = ()
    place: int = 0

    def order(self, first: int, nodes: int) -> tuple[int, ...]:
        """Return the indexes of the nodes that a client tries, starting with ``first``."""
        further = tuple((first + step) % nodes for step in range(1, nodes))
        return (first, *further) if self.any_node else (first,)


@dataclass(frozen=True, slots=True)
class Queues:
    """A kind of queue, and the phrases that distinguish it in reports.

    ``noun`` is the plural of its queues, where that is not regular as ``quorum queues`` is.
    Messages stay in a ``log``: consumers choose where to begin.  ``declared`` queues are of the
    kinds that the options of clients declare.
    """

    name: str
    title: str
    label: str
    suffix: str
    sentence: str
    log: bool = False
    declared: bool = False
    noun: str = ""


@dataclass(frozen=True, slots=True)
class Family:
    """A family of topologies: the ``listed`` ones, and those that ``made`` builds from a name.

    ``made`` returns None for a name of another family, and raises ``PlanError`` for a name with
    impossible numbers.
    """

    name: str
    listed: tuple[Topology, ...]
    made: Callable[[str], Topology | None] = lambda _name: None


class Topologies(Mapping[str, Topology]):
    """Topologies of all families by name.

    Length and iteration cover only the listed ones.
    """

    @property
    def _listed(self) -> dict[str, Topology]:
        listed = [topology for family in FAMILIES.values() for topology in family.listed]
        listed.sort(key=lambda topology: topology.place)
        return {topology.name: topology for topology in listed}

    @override
    def __getitem__(self, name: str) -> Topology:
        """Return the topology of that name."""
        if name in (listed := self._listed):
            return listed[name]
        made = [] if impossible(name) else [family.made(name) for family in FAMILIES.values()]
        if topology := next(filter(None, made), None):
            return topology
        raise KeyError(name)

    @override
    def __iter__(self) -> Iterator[str]:
        """Iterate over the listed names."""
        return iter(self._listed)

    @override
    def __len__(self) -> int:
        """Number of listed topologies."""
        return len(self._listed)


def impossible(name: str) -> str | None:
    """Return why the numbers in this name are impossible; None for every other name."""
    try:
        for family in FAMILIES.values():
            family.made(name)
    except PlanError as error:
        return str(error)
    return None


BROKERS = (
    Topology(
        name="cmsm",
        title="Client and Server connected to Master",
        label="Client -> Master, Server -> Master",
        sentence="Client and server are both connected to the Master node.",
    ),
    Topology(
        name="cs1ss2",
        client=1,
        server=2,
        title="Client -> Slave-1, Server -> Slave-2",
        label="Client -> Slave-1, Server -> Slave-2",
        sentence="Client and server are connected to different slave nodes.",
    ),
    Topology(
        name="any-node",
        server=1,
        title="Client and Server connected to any Node",
        label="Client -> any Node, Server -> any Node",
        sentence=(
            "Client and server know all nodes; whoever loses its node connects to another one."
        ),
        any_node=True,
    ),
    Topology(
        name="direct",
        title="Client -> Server",
        label="Client -> Server",
        sentence="Clients send to servers directly: there is no broker between them.",
    ),
    Topology(
        name="single",
        title="Client and Server connected to a single Broker",
        label="Client -> Broker, Server -> Broker",
        sentence="Client and server are both connected to the only broker.",
    ),
    Topology(
        name="primary",
        title="Client and Server connected to Primary",
        label="Client -> Primary, Server -> Primary",
        sentence="Client and server are both connected to the primary; backups wait to take over.",
        place=1,
    ),
    *(
        Topology(name, title, title, f"{title}, and to no other node.", client, server, place=1)
        for name, title, client, server in (
            ("cs1ss1", "Client -> Slave-1, Server -> Slave-1", 1, 1),
            ("cmss2", "Client -> Master, Server -> Slave-2", 0, 2),
        )
    ),
)

FAMILIES = Registry("topologies", (Family("brokers", BROKERS),))

TOPOLOGIES = Topologies()

_QUEUES = (
    Queues("classic", "", "", "", "Queues are classic and not mirrored."),
    Queues(
        "mirrored",
        ", HA queues enabled",
        " (HA)",
        "-ha",
        "HA queues are enabled: every queue is mirrored to all nodes.",
    ),
    Queues(
        "quorum",
        ", quorum queues",
        " (quorum)",
        "-quorum",
        "Queues are quorum queues, replicated by Raft to all nodes.",
    ),
    Queues(
        "stream",
        ", streams",
        " (stream)",
        "-stream",
        "Queues are streams, replicated to all nodes: messages stay in them on disk.",
        log=True,
        noun="streams",
    ),
    Queues(
        "declared",
        ", declared queues",
        " (declared)",
        "-declared",
        "Queues are what the driver's options of clients and servers declare them to be.",
        declared=True,
    ),
    Queues(
        "ha",
        ", replicated queues",
        " (replicated where possible)",
        "-ha-any",
        "Queues are replicated to all nodes: mirrored before RabbitMQ 4, quorum queues since.",
    ),
    Queues("routed", "", "", "", "Messages are routed: none is queued but on its way."),
    Queues("none", "", "", "", "No queues but those of the processes themselves."),
    Queues(
        "replicated",
        ", replicated queues",
        " (replicated)",
        "-replicated",
        "Queues are replicated to a backup, as far as messages are durable.",
    ),
)

QUEUES = Registry("queues", _QUEUES)

"""The words for who connects where, and through which kind of queue.

One entry per topology and per kind of queue: names, and the phrases by which titles, tables and
figures tell them apart.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from typing_extensions import override

from mqperf.base.errors import PlanError
from mqperf.base.registry import Registry


@dataclass(frozen=True, slots=True)
class Topology:
    """Who connects where: ``client`` and ``server`` are positions among the system's nodes.

    With ``any_node`` they know the other nodes, too, and connect to those in turn or at random.
    ``nodes`` are what the nodes are called, where the name of the topology tells it; ``place`` is
    where it stands in lists: after those of lower ones.
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
        """The positions that one who connects to this one first knows, of so many nodes."""
        others = tuple((first + step) % nodes for step in range(1, nodes))
        return (first, *others) if self.any_node else (first,)


@dataclass(frozen=True, slots=True)
class Queues:
    """A kind of queue, and the words by which reports tell it from the others.

    ``noun`` is what its queues are together, where that is not ``quorum queues`` of *quorum*.
    Messages of a ``log`` stay in it: who consumes says where to begin.  Of ``declared`` queues the
    options of clients say what each is.
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
    """Topologies that belong together: ``listed`` ones, and those that ``made`` makes of a name.

    ``made`` gives None for a name that is none of its own, and raises ``PlanError`` where numbers
    in the name make no topology.
    """

    name: str
    listed: tuple[Topology, ...]
    made: Callable[[str], Topology | None] = lambda _name: None


class Topologies(Mapping[str, Topology]):
    """Topologies of all families by name.

    Only the listed ones are counted, and named by an iteration.
    """

    @property
    def _listed(self) -> dict[str, Topology]:
        every = [topology for family in FAMILIES.values() for topology in family.listed]
        return {
            topology.name: topology
            for topology in sorted(every, key=lambda topology: topology.place)
        }

    @override
    def __getitem__(self, name: str) -> Topology:
        """The topology of that name."""
        if name in (listed := self._listed):
            return listed[name]
        made = [] if impossible(name) else [family.made(name) for family in FAMILIES.values()]
        if topology := next(filter(None, made), None):
            return topology
        raise KeyError(name)

    @override
    def __iter__(self) -> Iterator[str]:
        """The listed names."""
        return iter(self._listed)

    @override
    def __len__(self) -> int:
        """How many are listed."""
        return len(self._listed)


def impossible(name: str) -> str | None:
    """Why there is no topology with the numbers of this name; None for every other name."""
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
        Topology(name, words, words, f"{words}, and to no other node.", client, server, place=1)
        for name, words, client, server in (
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

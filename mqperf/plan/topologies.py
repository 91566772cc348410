"""The words for who connects where, and through which kind of queue.

One entry per topology and per kind of queue: names, and the phrases by which titles, tables and
figures tell them apart.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from typing_extensions import override

from mqperf.base.errors import NetworkError
from mqperf.plan.networks import FORMS, ends, named


@dataclass(frozen=True, slots=True)
class Topology:
    """Who connects where: ``client`` and ``server`` are positions among the system's nodes.

    With ``any_node`` they know the other nodes, too, and connect to those in turn or at random.
    """

    name: str
    title: str
    label: str
    sentence: str
    client: int = 0
    server: int = 0
    any_node: bool = False

    def order(self, first: int, nodes: int) -> tuple[int, ...]:
        """The positions that one who connects to this one first knows, of so many nodes."""
        others = tuple((first + step) % nodes for step in range(1, nodes))
        return (first, *others) if self.any_node else (first,)


@dataclass(frozen=True, slots=True)
class Queues:
    """A kind of queue, and the words by which reports tell it from the others.

    Messages of a ``log`` stay in it: who consumes says where to begin.
    """

    name: str
    title: str
    label: str
    suffix: str
    sentence: str
    log: bool = False


class Topologies(Mapping[str, Topology]):
    """Topologies by name: those listed, and every form of a network with its numbers.

    Only the former are counted, and named by an iteration.
    """

    def __init__(self, *listed: Topology) -> None:
        """Take those that have a name of their own."""
        self._listed = {one.name: one for one in listed}

    @override
    def __getitem__(self, name: str) -> Topology:
        """The topology of that name."""
        return self._listed[name] if name in self._listed else _of_form(name)

    @override
    def __iter__(self) -> Iterator[str]:
        """The listed names."""
        return iter(self._listed)

    @override
    def __len__(self) -> int:
        """How many are listed."""
        return len(self._listed)


def impossible(name: str) -> str | None:
    """Why no network has the form and the numbers of this name; None for every other name."""
    try:
        named(name)
    except NetworkError as error:
        return str(error)
    return None


@cache
def _of_form(name: str) -> Topology:
    """The words for a form of a network; raises ``KeyError`` where there is no such network.

    Client and server are at two routers that are farthest from each other.
    """
    network = None if impossible(name) else named(name)
    if network is None:
        raise KeyError(name)
    client, server = ends(network)
    form, size = FORMS[name.partition("-")[0]], len(network.nodes)
    first, last = network.nodes[client].id, network.nodes[server].id
    return Topology(
        name=name,
        client=client,
        server=server,
        title=form.title(size),
        label=f"Client -> {first}, {last} <- Server ({name})",
        sentence=f"Client and server are connected to {first} and {last}."
        f" The network: {form.words.format(size=size)}.",
    )


TOPOLOGIES = Topologies(
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
        name="standalone",
        title="Client and Server connected to a standalone Router",
        label="Client -> Router, Server -> Router (standalone)",
        sentence="Client and server are both connected to the only router, a standalone one.",
    ),
    Topology(
        name="interior",
        title="Client and Server connected to an interior Router",
        label="Client -> Router, Server -> Router (interior)",
        sentence="Client and server are both connected to the only router, which is ready to be one"
        " of a network.",
    ),
    Topology(
        name="line",
        server=2,
        title="Three Routers in Line",
        label="Client -> R1 - R2 - R3 <- Server",
        sentence="Client and server are connected to the two ends of three routers in line.",
    ),
    Topology(
        name="redundant",
        server=2,
        title="Three Routers in Line, and a Fourth beside them",
        label="Client -> R1 - R2 - R3 <- Server, R4 beside R2",
        sentence="Client and server are connected to the two ends of three routers in line; a"
        " fourth one joins these ends, too, at twice the cost.",
    ),
    Topology(
        name="broker-between",
        server=2,
        title="A Broker between two Routers",
        label="Client -> R1 - Broker - R2 <- Server",
        sentence="Client and server are connected to two routers, which pass their links on to one"
        " broker.",
    ),
    Topology(
        name="graph",
        server=-1,
        title="A Network of its own",
        label="Client -> first Router, last Router <- Server",
        sentence="Client and server are connected to the first and the last router of the network"
        " that the plan describes.",
    ),
    Topology(
        name="primary",
        title="Client and Server connected to Primary",
        label="Client -> Primary, Server -> Primary",
        sentence="Client and server are both connected to the primary; backups wait to take over.",
    ),
)

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
    "stream": Queues(
        "stream",
        ", streams",
        " (stream)",
        "-stream",
        "Queues are streams, replicated to all nodes: messages stay in them on disk.",
        log=True,
    ),
    "ha": Queues(
        "ha",
        ", replicated queues",
        " (replicated where possible)",
        "-ha-any",
        "Queues are replicated to all nodes: mirrored before RabbitMQ 4, quorum queues since.",
    ),
    "routed": Queues("routed", "", "", "", "Messages are routed: none is queued but on its way."),
    "none": Queues("none", "", "", "", "No queues but those of the processes themselves."),
    "replicated": Queues(
        "replicated",
        ", replicated queues",
        " (replicated)",
        "-replicated",
        "Queues are replicated to a backup, as far as messages are durable.",
    ),
}

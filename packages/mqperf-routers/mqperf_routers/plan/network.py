"""A network of routers and brokers: nodes, and the edges between them, each with a cost."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mqperf.base.errors import PlanError
from mqperf.base.one_line import NAME
from mqperf_routers.plan.routes import costs

INTERIOR, EDGE, STANDALONE, BROKER = "interior", "edge", "standalone", "broker"
ROLES = (INTERIOR, EDGE, STANDALONE, BROKER)

JOINED = {
    frozenset((INTERIOR,)): "inter-router",
    frozenset((INTERIOR, EDGE)): "edge",
    frozenset((INTERIOR, BROKER)): "route-container",
    frozenset((EDGE, BROKER)): "route-container",
    frozenset((STANDALONE, BROKER)): "route-container",
}
"""Roles of two nodes -> the role of the connection between them, as routers name it."""

RANK = {BROKER: 0, INTERIOR: 1, EDGE: 2, STANDALONE: 2}
"""Of two nodes, the one with the higher rank opens the connection."""

DEFAULTS = frozenset(("listener", "connector"))
"""The kinds of configuration entities that are derived from a network."""

MOST_NODES = 1_000


class NetworkError(PlanError):
    """An invalid network of routers, or a file that does not describe one."""


@dataclass(frozen=True, slots=True)
class NetworkNode:
    """A router or a broker.

    ``sections`` are entities of its configuration file beyond those derived from the network, each
    with its attributes; ``router`` has attributes of the router itself. ``defaults`` are the kinds
    of entities that are derived from the network. ``host`` is where it runs, ``port`` where it
    listens for clients; None if not given. Links with addresses that match one of a broker's
    ``patterns`` are routed to it.
    """

    id: str
    role: str
    host: str | None = None
    port: int | None = None
    router: Mapping[str, Any] = field(default_factory=dict)
    sections: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    defaults: frozenset[str] = DEFAULTS
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """Two nodes that are joined; ``cost`` matters between interior routers only."""

    first: str
    second: str
    cost: int = 1


@dataclass(frozen=True, slots=True)
class Network:
    """Nodes in their order, and edges.

    Raises ``NetworkError``, in one line, for nodes with the same name, for an edge to an unknown
    node or between roles that cannot be joined, and for a network that is not connected.
    """

    nodes: tuple[NetworkNode, ...]
    edges: tuple[Edge, ...] = ()

    def __post_init__(self) -> None:
        """Check that the network is valid."""
        for problem in (*_node_problems(self), *_edge_problems(self)):
            raise NetworkError(problem)
        reached = costs(self.neighbours(interior=False), self.nodes[0].id)
        unreached = [node.id for node in self.nodes if node.id not in reached]
        if unreached:
            raise NetworkError(f"{unreached[0]} has no path to {self.nodes[0].id}: add an edge")

    def __getitem__(self, name: str) -> NetworkNode:
        """Return the node with this id."""
        return next(node for node in self.nodes if node.id == name)

    @property
    def routers(self) -> tuple[NetworkNode, ...]:
        """The nodes that are not brokers."""
        return tuple(node for node in self.nodes if node.role != BROKER)

    @property
    def brokers(self) -> tuple[NetworkNode, ...]:
        """The nodes that are brokers."""
        return tuple(node for node in self.nodes if node.role == BROKER)

    def neighbours(self, *, interior: bool = True) -> Mapping[str, Mapping[str, int]]:
        """Return, by node, the edge cost to each neighbour; of interior routers only, or of all."""
        names = [node.id for node in self.nodes if node.role == INTERIOR or not interior]
        neighbours: dict[str, dict[str, int]] = {name: {} for name in names}
        for edge in self.edges:
            if {edge.first, edge.second} <= neighbours.keys():
                neighbours[edge.first][edge.second] = edge.cost
                neighbours[edge.second][edge.first] = edge.cost
        return neighbours

    def connections(self) -> Iterator[tuple[Edge, NetworkNode, NetworkNode]]:
        """Yield each edge with the node that opens its connection, and the node that accepts it.

        An edge router connects to an interior one, any router to a broker; of two interior routers
        the later one connects.
        """
        nodes = {node.id: node for node in self.nodes}
        order = {node.id: (RANK[node.role], number) for number, node in enumerate(self.nodes)}
        for edge in self.edges:
            whom, who = sorted((edge.first, edge.second), key=order.__getitem__)
            yield edge, nodes[who], nodes[whom]


def joined_as(node: NetworkNode, other: NetworkNode) -> str | None:
    """Return the role of the connection between two nodes; None if they cannot be joined."""
    return JOINED.get(frozenset((node.role, other.role)))


def _node_problems(network: Network) -> Iterator[str]:
    if not network.nodes or not network.routers:
        yield "there is no router: name at least one"
    if len(network.nodes) > MOST_NODES:
        yield f"{len(network.nodes):,} nodes: expected at most {MOST_NODES:,}"
    names: set[str] = set()
    for node in network.nodes:
        if not NAME.fullmatch(node.id):
            yield f"{node.id!r} is no name of a node: take letters, digits, '.', '_' and '-'"
        elif node.role not in ROLES:
            yield f"{node.id}: unknown role {node.role!r}; known: {', '.join(ROLES)}"
        elif node.id.lower() in names:
            yield f"two nodes are called {node.id!r}, but for capitals: rename one"
        names.add(node.id.lower())


def _edge_problems(network: Network) -> Iterator[str]:
    nodes = {node.id: node for node in network.nodes}
    pairs: set[frozenset[str]] = set()
    for edge in network.edges:
        pair = frozenset((edge.first, edge.second))
        subject = f"the edge between {edge.first} and {edge.second}"
        if missing := [name for name in (edge.first, edge.second) if name not in nodes]:
            yield f"{subject}: there is no node {missing[0]!r}; known: {', '.join(sorted(nodes))}"
        elif len(pair) == 1:
            yield f"{subject} joins a node with itself: remove it"
        elif pair in pairs:
            yield f"{subject} is there twice: remove one"
        elif edge.cost < 1:
            yield f"{subject}: its cost is {edge.cost}: expected a whole number from 1 on"
        elif joined_as(nodes[edge.first], nodes[edge.second]) is None:
            roles = f"{nodes[edge.first].role} and {nodes[edge.second].role}"
            yield f"{subject}: {roles} nodes cannot be joined; give one of them the role {INTERIOR}"
        pairs.add(pair)

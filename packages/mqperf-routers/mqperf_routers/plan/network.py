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
"""By the roles of two nodes, what a router calls the connection between them."""

RANK = {BROKER: 0, INTERIOR: 1, EDGE: 2, STANDALONE: 2}
"""Who is lower is connected to."""

DEFAULTS = frozenset(("listener", "connector"))
"""The kinds of entities that follow from a network."""

MOST_NODES = 1_000


class NetworkError(PlanError):
    """A network of routers that cannot be, or that no file describes."""


@dataclass(frozen=True, slots=True)
class NetworkNode:
    """A router or a broker.

    ``sections`` are entities of its configuration file beyond those that follow from the network,
    each with its attributes; ``router`` are attributes of the router itself. ``defaults`` are those
    kinds of entities that follow from the network. ``host`` is where it runs, ``port`` where it
    listens for clients there; None where nothing is said. To a broker go links with addresses that
    match one of its ``patterns``.
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
    """Two nodes that are joined; ``cost`` counts between interior routers only."""

    first: str
    second: str
    cost: int = 1


@dataclass(frozen=True, slots=True)
class Network:
    """Nodes in their order, and edges.

    Raises ``NetworkError``, in one line, for nodes of one name, for an edge of a node that there is
    not or that routers could not have, and for a node that none of the edges joins with the rest.
    """

    nodes: tuple[NetworkNode, ...]
    edges: tuple[Edge, ...] = ()

    def __post_init__(self) -> None:
        """Check that it can be."""
        for problem in (*_of_nodes(self), *_of_edges(self)):
            raise NetworkError(problem)
        reached = costs(self.neighbours(interior=False), self.nodes[0].id)
        unreached = [node.id for node in self.nodes if node.id not in reached]
        if unreached:
            raise NetworkError(f"{unreached[0]} has no path to {self.nodes[0].id}: add an edge")

    def __getitem__(self, name: str) -> NetworkNode:
        """The node of that id."""
        return next(node for node in self.nodes if node.id == name)

    @property
    def routers(self) -> tuple[NetworkNode, ...]:
        """All nodes that are no brokers."""
        return tuple(node for node in self.nodes if node.role != BROKER)

    @property
    def brokers(self) -> tuple[NetworkNode, ...]:
        """All others."""
        return tuple(node for node in self.nodes if node.role == BROKER)

    def neighbours(self, *, interior: bool = True) -> Mapping[str, Mapping[str, int]]:
        """By node, the cost of the edge to each neighbour; of interior routers only, or of all."""
        kept = [node.id for node in self.nodes if node.role == INTERIOR or not interior]
        neighbours: dict[str, dict[str, int]] = {name: {} for name in kept}
        for edge in self.edges:
            if {edge.first, edge.second} <= neighbours.keys():
                neighbours[edge.first][edge.second] = edge.cost
                neighbours[edge.second][edge.first] = edge.cost
        return neighbours

    def connections(self) -> Iterator[tuple[Edge, NetworkNode, NetworkNode]]:
        """Each edge with who connects, and to whom.

        An edge router connects to an interior one, any router to a broker; of two interior routers
        the later one connects.
        """
        of = {node.id: node for node in self.nodes}
        place = {node.id: (RANK[node.role], number) for number, node in enumerate(self.nodes)}
        for edge in self.edges:
            whom, who = sorted((edge.first, edge.second), key=place.__getitem__)
            yield edge, of[who], of[whom]


def joined_as(node: NetworkNode, other: NetworkNode) -> str | None:
    """What a router calls the connection between two nodes; None where there can be none."""
    return JOINED.get(frozenset((node.role, other.role)))


def _of_nodes(network: Network) -> Iterator[str]:
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


def _of_edges(network: Network) -> Iterator[str]:
    nodes = {node.id: node for node in network.nodes}
    taken: set[frozenset[str]] = set()
    for edge in network.edges:
        pair = frozenset((edge.first, edge.second))
        subject = f"the edge between {edge.first} and {edge.second}"
        if missing := [name for name in (edge.first, edge.second) if name not in nodes]:
            yield f"{subject}: there is no node {missing[0]!r}; known: {', '.join(sorted(nodes))}"
        elif len(pair) == 1:
            yield f"{subject} joins a node with itself: remove it"
        elif pair in taken:
            yield f"{subject} is there twice: remove one"
        elif edge.cost < 1:
            yield f"{subject}: its cost is {edge.cost}: expected a whole number from 1 on"
        elif joined_as(nodes[edge.first], nodes[edge.second]) is None:
            roles = f"{nodes[edge.first].role} and {nodes[edge.second].role}"
            yield f"{subject}: {roles} nodes cannot be joined; give one of them the role {INTERIOR}"
        taken.add(pair)

"""The picture of a network of routers: nodes where no edge runs behind a node, and both ends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import cos, pi, sin

from mqperf.base.one_line import one_line
from mqperf.pages.figures import palette
from mqperf.pages.report.pictures.svg import templates
from mqperf.pages.report.pictures.topology import Picture, describe
from mqperf.pages.report.words import Layout
from mqperf.plan.topologies import TOPOLOGIES
from mqperf_routers.plan.network import BROKER, EDGE, INTERIOR, Network
from mqperf_routers.plan.routes import costs
from mqperf_routers.plan.topologies import named

BOX = (104, 44)
"""Width and height of a node, in pixels."""

COLUMN, ROW, MARGIN, ABOVE = 170, 104, 24, 40
"""From column to column at least, and from row to row; around the picture, and for its words."""

WIDEST = 450
"""From column to column at most; what needs more is drawn in a circle."""

CLEAR = 60
"""From the middle of a node to an edge that passes it, at least."""

ASIDE, BELOW = 112, 62
"""From a node to its client or server, beside it and below it."""

LONGEST_LABEL = 12


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in the picture."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Placed:
    """Where nodes are by name, and where the client and the server."""

    nodes: Mapping[str, Spot]
    client: Spot
    server: Spot


def draw(layout: Layout, nodes: Sequence[str]) -> str | None:
    """The picture on a page, unless it shows interior routers in a row, or none that are named."""
    topology = TOPOLOGIES.get(layout.topology)
    network = named(layout.topology) if topology is not None else None
    if topology is None or network is None or len(nodes) < 2 or topology.nodes != (*nodes,):
        return None
    in_row = {(edge.first, edge.second) for edge in network.edges} == {*pairwise(nodes)}
    if in_row and all(node.role == INTERIOR for node in network.nodes):
        return None
    return network_picture(
        network,
        nodes[topology.client],
        nodes[topology.server],
        title=layout.label,
        words=describe(layout, nodes),
    )


PICTURE = Picture("routers", draw)


def network_picture(network: Network, client: str, server: str, *, title: str, words: str) -> str:
    """The SVG, with clients at one node and servers at another."""
    placed = _moved(_in_columns(network, client, server) or _in_circle(network, client, server))
    every = [*placed.nodes.values(), placed.client, placed.server]
    spots = placed.nodes
    return (
        templates("mqperf_routers.pages")
        .get_template("network.svg.j2")
        .render(
            width=round(max(spot.x for spot in every) + BOX[0] / 2 + MARGIN),
            height=round(max(spot.y for spot in every) + BOX[1] / 2 + MARGIN),
            nodes=[
                {
                    "name": one_line(node.id, LONGEST_LABEL),
                    "x": spots[node.id].x,
                    "y": spots[node.id].y,
                    "rounded": node.role == BROKER,
                }
                for node in network.nodes
            ],
            edges=[
                {
                    "start": spots[edge.first],
                    "end": spots[edge.second],
                    "middle": _middle(spots[edge.first], spots[edge.second]),
                    "cost": edge.cost,
                }
                for edge in network.edges
            ],
            ends=[
                {"name": "Client", "at": placed.client, "node": spots[client]},
                {"name": "Server", "at": placed.server, "node": spots[server]},
            ],
            lines=_lines(network),
            title=one_line(title),
            describe=one_line(words),
            palette=palette,
            box=BOX,
        )
    )


def _in_columns(network: Network, client: str, server: str) -> Placed | None:
    """Nodes in columns by their distance from the client; None where edges would run behind."""
    columns = _columns(network, client)
    tallest = max(map(len, columns))
    place = {
        name: (number, row + (tallest - len(column)) / 2)
        for number, column in enumerate(columns)
        for row, name in enumerate(column)
    }
    spans = [0.0]
    for edge in network.edges:
        (here, row), (there, other) = place[edge.first], place[edge.second]
        if here == there and (abs(row - other) > 1 or server not in columns[-1]):
            return None
        spans.append(abs(row - other) if here != there else 0)
    width = max(COLUMN, max(spans) * ROW * BOX[0] / 2 / (ROW - CLEAR / 2))
    if width > WIDEST:
        return None
    nodes = {name: Spot(number * width, row * ROW) for name, (number, row) in place.items()}
    first, last = nodes[client], nodes[server]
    aside = server in columns[-1] and server != client
    at = Spot(last.x + ASIDE, last.y) if aside else Spot(last.x, last.y + BELOW)
    return Placed(nodes, Spot(first.x - ASIDE, first.y), at)


def _columns(network: Network, client: str) -> list[list[str]]:
    """Nodes by the number of edges from the client's, in their order."""
    beside = network.neighbours(interior=False)
    steps = costs(
        {name: dict.fromkeys(neighbours, 1) for name, neighbours in beside.items()}, client
    )
    columns: list[list[str]] = [[] for _ in range(max(steps.values()) + 1)]
    for node in network.nodes:
        columns[steps[node.id]].append(node.id)
    return columns


def _in_circle(network: Network, client: str, server: str) -> Placed:
    """Nodes on a circle, the client's on the left; no edge runs behind a node."""
    count = len(network.nodes)
    step = 2 * pi / count
    radius = max(COLUMN, (BOX[0] + 20) / step, CLEAR / (1 - cos(step)))
    start = [node.id for node in network.nodes].index(client)
    angles = {node.id: pi + step * (number - start) for number, node in enumerate(network.nodes)}
    nodes = {name: Spot(radius * cos(at), radius * sin(at)) for name, at in angles.items()}
    outside = [
        Spot(nodes[end].x + ASIDE * cos(angles[end]), nodes[end].y + BELOW * sin(angles[end]))
        for end in (client, server)
    ]
    return Placed(nodes, *outside)


def _moved(placed: Placed) -> Placed:
    """The same with everything to the right of the margin and below the words."""
    every = [*placed.nodes.values(), placed.client, placed.server]
    right = MARGIN + BOX[0] / 2 - min(spot.x for spot in every)
    down = ABOVE + BOX[1] / 2 - min(spot.y for spot in every)

    def move(spot: Spot) -> Spot:
        return Spot(round(spot.x + right, 1), round(spot.y + down, 1))

    nodes = {name: move(spot) for name, spot in placed.nodes.items()}
    return Placed(nodes, move(placed.client), move(placed.server))


def _middle(start: Spot, end: Spot) -> Spot:
    return Spot((start.x + end.x) / 2, (start.y + end.y) / 2)


def _lines(network: Network) -> str:
    """What is not told by the names."""
    words = ["lines: connections"]
    words += ["their cost where it is not 1"] if any(e.cost != 1 for e in network.edges) else []
    words += ["round: brokers"] if network.brokers else []
    edge = [node.id for node in network.nodes if node.role == EDGE]
    return "; ".join([*words, *([f"edge routers: {', '.join(edge)}"] if edge else [])])

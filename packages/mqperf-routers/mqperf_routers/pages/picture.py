"""The picture of a network of routers, with client and server; no edge runs behind a node."""

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
"""Least width of a column, height of a row; margin around the picture; space for its text."""

WIDEST = 450
"""Largest width of a column; a network that needs more is drawn in a circle."""

CLEAR = 60
"""Least distance from the middle of a node to an edge that passes it."""

ASIDE, BELOW = 112, 62
"""Distance from a node to its client or server: beside it, and below it."""

LONGEST_LABEL = 12


@dataclass(frozen=True, slots=True)
class Spot:
    """A position in the picture, in pixels."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Placed:
    """The positions of nodes by name, of the client and of the server."""

    nodes: Mapping[str, Spot]
    client: Spot
    server: Spot


def draw(layout: Layout, nodes: Sequence[str]) -> str | None:
    """Return the picture on a page; None for interior routers in a row, or an unnamed network."""
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
    """Return the SVG, with clients at one node and servers at another."""
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
            lines=_legend(network),
            title=one_line(title),
            describe=one_line(words),
            palette=palette,
            box=BOX,
        )
    )


def _in_columns(network: Network, client: str, server: str) -> Placed | None:
    """Return nodes in columns by distance from the client; None if an edge would cross a node."""
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
    server_at = Spot(last.x + ASIDE, last.y) if aside else Spot(last.x, last.y + BELOW)
    return Placed(nodes, Spot(first.x - ASIDE, first.y), server_at)


def _columns(network: Network, client: str) -> list[list[str]]:
    """Return the nodes by their number of edges from the client's node, in their order."""
    graph = network.neighbours(interior=False)
    hops = costs({name: dict.fromkeys(neighbours, 1) for name, neighbours in graph.items()}, client)
    columns: list[list[str]] = [[] for _ in range(max(hops.values()) + 1)]
    for node in network.nodes:
        columns[hops[node.id]].append(node.id)
    return columns


def _in_circle(network: Network, client: str, server: str) -> Placed:
    """Return nodes on a circle, the client's on the left; no edge runs behind a node."""
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
    """Return the positions shifted to the right of the margin and below the text."""
    every = [*placed.nodes.values(), placed.client, placed.server]
    right = MARGIN + BOX[0] / 2 - min(spot.x for spot in every)
    down = ABOVE + BOX[1] / 2 - min(spot.y for spot in every)

    def move(spot: Spot) -> Spot:
        return Spot(round(spot.x + right, 1), round(spot.y + down, 1))

    nodes = {name: move(spot) for name, spot in placed.nodes.items()}
    return Placed(nodes, move(placed.client), move(placed.server))


def _middle(start: Spot, end: Spot) -> Spot:
    return Spot((start.x + end.x) / 2, (start.y + end.y) / 2)


def _legend(network: Network) -> str:
    """Return the legend: what the names of nodes do not show."""
    entries = ["lines: connections"]
    entries += ["their cost where it is not 1"] if any(e.cost != 1 for e in network.edges) else []
    entries += ["round: brokers"] if network.brokers else []
    edge = [node.id for node in network.nodes if node.role == EDGE]
    return "; ".join([*entries, *([f"edge routers: {', '.join(edge)}"] if edge else [])])

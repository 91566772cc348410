"""The picture of a network: no edge crosses a node that it does not join."""

import re
from itertools import combinations
from xml.etree import ElementTree as ET

import pytest

from mqperf.pages.report.pictures.topology import picture
from mqperf.pages.report.words import Layout
from mqperf.plan.topologies import TOPOLOGIES
from mqperf_routers.pages.picture import network_picture
from mqperf_routers.plan.node_link import from_node_link
from mqperf_routers.plan.topologies import named

SVG = "{http://www.w3.org/2000/svg}"
NAMES = (
    *(
        f"{form}-{size}"
        for form in ("line", "ring", "star", "tree", "complete")
        for size in (3, 6, 9)
    ),
    *("grid-2x2", "grid-3x4", "grid-5x5", "redundant", "broker-between"),
    *(f"random-{size}-{seed}" for size in (4, 7, 12) for seed in range(3)),
)
Box = tuple[float, float, float, float]


def drawn(name: str) -> ET.Element:
    """The picture as on a page."""
    network = named(name)
    assert network is not None
    topology = TOPOLOGIES[name]
    client, server = (network.nodes[place].id for place in (topology.client, topology.server))
    svg = network_picture(network, client, server, title=name, words=name)
    return ET.fromstring(svg)  # noqa: S314 (our own drawing)


def boxes(root: ET.Element) -> list[Box]:
    """The boxes of all nodes and of client and server."""
    corners = []
    for rect in root.iter(f"{SVG}rect"):
        if "box" in str(rect.get("class")):
            x, y, width, height = (
                float(str(rect.get(key))) for key in ("x", "y", "width", "height")
            )
            corners.append((x, y, x + width, y + height))
    return corners


def apart(box: Box, other: Box) -> bool:
    return box[2] <= other[0] or other[2] <= box[0] or box[3] <= other[1] or other[3] <= box[1]


def behind(line: Box, box: Box) -> bool:
    """Whether a line crosses a box, tested at 201 points."""
    x, y, to_x, to_y = line
    points = ((x + (to_x - x) * part / 200, y + (to_y - y) * part / 200) for part in range(201))
    return any(box[0] < px < box[2] and box[1] < py < box[3] for px, py in points)


@pytest.mark.parametrize("name", NAMES)
def test_no_edge_runs_behind_a_node(name: str) -> None:
    """No nodes overlap, and all are inside the picture."""
    root = drawn(name)
    rects = boxes(root)
    assert all(apart(first, second) for first, second in combinations(rects, 2))
    width, height = (float(str(root.get(key))) for key in ("width", "height"))
    assert all(x >= 0 and y >= 0 and to_x <= width and to_y <= height for x, y, to_x, to_y in rects)
    for path in root.iter(f"{SVG}path"):
        if path.get("class") == "link":
            numbers = [float(number) for number in re.findall(r"-?[\d.]+", str(path.get("d")))]
            line = (numbers[0], numbers[1], numbers[2], numbers[3])
            assert sum(behind(line, box) for box in rects) == 2, path.get("d")


def test_costs_brokers_and_edge_routers_are_in_the_caption() -> None:
    """The caption explains them if there are any."""
    texts = {element.text for element in drawn("redundant").iter(f"{SVG}text")}
    assert "lines: connections; their cost where it is not 1" in texts
    assert "2" in texts
    assert "lines: connections; round: brokers" in {
        element.text for element in drawn("broker-between").iter(f"{SVG}text")
    }
    data = {
        "nodes": [{"id": "a", "role": "edge"}, {"id": "b", "role": "interior"}],
        "edges": [{"source": "a", "target": "b"}],
    }
    svg = network_picture(from_node_link(data), "a", "b", title="<&>", words="")
    assert "lines: connections; edge routers: a" in svg
    assert "&lt;&amp;&gt;" in svg


def test_a_page_draws_the_network_of_its_topology() -> None:
    """A line of routers stays a row of boxes."""
    ring = Layout("qpid-dispatch", "Qpid Dispatch", "ring-4", "routed")
    nodes = ["R1", "R2", "R3", "R4"]
    assert picture(ring, nodes).count('class="link"') == 4
    line = Layout("qpid-dispatch", "Qpid Dispatch", "line", "routed")
    assert "routers that know each other" in picture(line, nodes[:3])

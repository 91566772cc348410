"""The picture of a topology: nodes in a row, and client and server below their nodes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mqperf.base.one_line import one_line
from mqperf.base.registry import Registry
from mqperf.pages.figures import labels, palette
from mqperf.pages.report.pictures.svg import templates
from mqperf.pages.report.words import Layout, joined
from mqperf.plan.topologies import Topology

END, MARGIN = 92, 40
"""Width of a client's box, and margin, in pixels."""

ROOMY, NARROW = (190, 130), (142, 116)
"""Distance of nodes, and width of a node's box, in pixels: for few nodes, and for many."""

COPIED_TO_ALL = ("mirrored", "quorum", "stream")
"""Kinds of queue that have a copy on every node."""

ROUTED = "routed"
"""The kind of queue of routers, which have no queues."""

LONGEST_LABEL = 14
"""Most characters of a node's name in its box."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of topologies that are not a row: ``draw`` returns SVG, or None for other ones."""

    name: str
    draw: Callable[[Layout, Sequence[str]], str | None]


PICTURES: Registry[Picture] = Registry("pictures")


def picture(layout: Layout, nodes: Sequence[str]) -> str:
    """Return the SVG; ``nodes`` are the labels of the broker nodes, empty if not known."""
    drawn = (candidate.draw(layout, nodes) for candidate in PICTURES.values())
    return next(filter(None, drawn), None) or _row(layout, nodes)


def _row(layout: Layout, nodes: Sequence[str]) -> str:
    topology = labels.topology(layout.topology)
    names = () if brokerless(layout) else nodes or (layout.system_title,)
    client, server = (topology.client, topology.server) if nodes else (0, 0)
    step, box = ROOMY if len(names) < 4 else NARROW
    first = MARGIN + (ROOMY[1] / 2 if len(names) > 1 else box)
    middles = [first + step * position for position in range(len(names) or 1)]
    aside = (END / 2 + 6 if names else END) if client == server else 0
    return (
        templates()
        .get_template("topology.svg.j2")
        .render(
            width=2 * middles[0] + middles[-1] - middles[0],
            height=250 if names else 124,
            ends_at=172 if names else 40,
            nodes=[
                (one_line(node, LONGEST_LABEL), middle)
                for node, middle in zip(names, middles, strict=False)
            ],
            ends=[
                ("Client", middles[client] - aside, _known(topology, client, middles)),
                ("Server", middles[server] + aside, _known(topology, server, middles)),
            ],
            replicated=layout.queues in COPIED_TO_ALL,
            lines=_lines(layout),
            describe=one_line(describe(layout, nodes)),
            title=one_line(layout.label),
            palette=palette,
            box=box,
            end=END,
        )
    )


def _known(topology: Topology, first: int, middles: Sequence[float]) -> list[float]:
    """Return the positions of the nodes in the order in which a client of ``first`` tries them."""
    return [middles[index] for index in topology.order(first, len(middles))]


def brokerless(layout: Layout) -> bool:
    """Return whether clients talk to servers directly, even if other nodes assist them."""
    return layout.queues == "none"


def describe(layout: Layout, nodes: Sequence[str]) -> str:
    """Return the picture as text."""
    return f"Nodes {joined(list(nodes))}. {layout.sentence}" if nodes else layout.sentence


def _lines(layout: Layout) -> str:
    """Return the meaning of the lines between the nodes."""
    if layout.queues in COPIED_TO_ALL:
        return "double line: queues have copies on every node"
    if layout.queues == ROUTED:
        return "dotted line: routers that know each other"
    if labels.copied(layout.queues):
        return "dotted line: a group of nodes, queues with copies on some"
    return "dotted line: cluster, queues without copies"

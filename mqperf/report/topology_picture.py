"""The picture of a topology: the nodes in a row, the client and the server below theirs."""

from collections.abc import Sequence

from jinja2 import Environment

from mqperf.figures import labels, palette
from mqperf.plan import QUEUES
from mqperf.report.words import Layout, joined

STEP, BOX, END, MARGIN = 190, 130, 92, 40
"""Distance from node to node, width of a node's box and of a client's, margin, in pixels."""


def picture(layout: Layout, nodes: Sequence[str], templates: Environment) -> str:
    """The SVG; ``nodes`` are the labels of the broker nodes, none when they are not known."""
    topology = labels.topology(layout.topology)
    names = nodes or (layout.system_title,)
    client, server = (topology.client, topology.server) if nodes else (0, 0)
    first = MARGIN + BOX / 2 if len(names) > 1 else MARGIN + BOX
    middles = [first + STEP * position for position in range(len(names))]
    aside = END / 2 + 6 if client == server else 0
    return templates.get_template("topology.svg.j2").render(
        width=2 * middles[0] + middles[-1] - middles[0],
        nodes=list(zip(names, middles, strict=True)),
        ends=[
            ("Client", middles[client] - aside, middles[client]),
            ("Server", middles[server] + aside, middles[server]),
        ],
        replicated=replicated(layout),
        describe=describe(layout, nodes),
        title=layout.label,
        palette=palette,
        box=BOX,
        end=END,
    )


def replicated(layout: Layout) -> bool:
    """Whether queues have copies on the other nodes."""
    _plain, *copied = QUEUES
    return layout.queues in copied


def describe(layout: Layout, nodes: Sequence[str]) -> str:
    """The picture in words."""
    return f"Nodes {joined(list(nodes))}. {layout.sentence}" if nodes else layout.sentence

"""Networks that a name stands for, in plans and in records."""

from collections.abc import Mapping

from mqperf.plan.networks.forms import FORMS
from mqperf.plan.networks.network import BROKER, INTERIOR, STANDALONE, Edge, Network, Node

GRAPH = "graph"
"""The topology whose network the plan itself describes."""

EVERY_ADDRESS = "*.*"
"""The addresses of every load: the run, a dot, and a number."""


def _three(*more: Edge) -> Network:
    names = ("R1", "R2", "R3", "R4")[: 3 + bool(more)]
    line = Edge("R1", "R2"), Edge("R2", "R3")
    return Network(tuple(Node(name, INTERIOR) for name in names), (*line, *more))


NETWORKS: Mapping[str, Network] = {
    "standalone": Network((Node("R1", STANDALONE),)),
    "interior": Network((Node("R1", INTERIOR),)),
    "line": _three(),
    "redundant": _three(Edge("R1", "R4", 2), Edge("R4", "R3", 2)),
    "broker-between": Network(
        (
            Node("R1", STANDALONE),
            Node("Broker", BROKER, patterns=(EVERY_ADDRESS,)),
            Node("R2", STANDALONE),
        ),
        (Edge("R1", "Broker"), Edge("R2", "Broker")),
    ),
}
"""Those that have a name of their own."""


def named(name: str) -> Network | None:
    """The network of that name, or None where none has it.

    Raises ``NetworkError`` for a form whose numbers make no network.
    """
    if name in NETWORKS:
        return NETWORKS[name]
    form, _, said = name.partition("-")
    return FORMS[form].network(said) if form in FORMS and said else None

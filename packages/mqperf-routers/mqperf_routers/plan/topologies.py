"""Named networks in plans and records, and their descriptions as topologies."""

from collections.abc import Mapping
from functools import cache

from mqperf.plan.topologies import Family, Topology
from mqperf_routers.plan.forms import FORMS
from mqperf_routers.plan.network import BROKER, INTERIOR, STANDALONE, Edge, Network, NetworkNode
from mqperf_routers.plan.routes import ends

GRAPH = "graph"
"""The topology whose network the plan itself describes."""

EVERY_ADDRESS = "*.*"
"""Pattern of the addresses of every load: the run, a dot, and a number."""


def _three(*more: Edge) -> Network:
    names = ("R1", "R2", "R3", "R4")[: 3 + bool(more)]
    line = Edge("R1", "R2"), Edge("R2", "R3")
    return Network(tuple(NetworkNode(name, INTERIOR) for name in names), (*line, *more))


NETWORKS: Mapping[str, Network] = {
    "standalone": Network((NetworkNode("R1", STANDALONE),)),
    "interior": Network((NetworkNode("R1", INTERIOR),)),
    "line": _three(),
    "redundant": _three(Edge("R1", "R4", 2), Edge("R4", "R3", 2)),
    "broker-between": Network(
        (
            NetworkNode("R1", STANDALONE),
            NetworkNode("Broker", BROKER, patterns=(EVERY_ADDRESS,)),
            NetworkNode("R2", STANDALONE),
        ),
        (Edge("R1", "Broker"), Edge("R2", "Broker")),
    ),
}
"""The networks with a name of their own, rather than that of a form with numbers."""


def named(name: str) -> Network | None:
    """Return the network of a name, or None if there is none.

    Raise ``NetworkError`` for a form with invalid numbers.
    """
    if name in NETWORKS:
        return NETWORKS[name]
    form, _, numbers = name.partition("-")
    return FORMS[form].network(numbers) if form in FORMS and numbers else None


def _listed(name: str, server: int, title: str, label: str, sentence: str) -> Topology:
    """Return the topology of a network in ``NETWORKS``, or of a plan: clients at its first node."""
    nodes = tuple(node.id for node in NETWORKS[name].nodes) if name in NETWORKS else ()
    return Topology(name, title, label, sentence, server=server, nodes=nodes)


@cache
def _of_form(name: str) -> Topology | None:
    """Return the topology of a form: client and server at two routers that are farthest apart."""
    network = None if name in NETWORKS else named(name)
    if network is None:
        return None
    client, server = ends(network)
    form, nodes = FORMS[name.partition("-")[0]], tuple(node.id for node in network.nodes)
    first, last = nodes[client], nodes[server]
    return Topology(
        name=name,
        client=client,
        server=server,
        title=form.title(len(nodes)),
        label=f"Client -> {first}, {last} <- Server ({name})",
        sentence=f"Client and server are connected to {first} and {last}."
        f" The network: {form.words.format(size=len(nodes))}.",
        nodes=nodes,
    )


FAMILY = Family(
    "routers",
    (
        _listed(
            "standalone",
            0,
            "Client and Server connected to a standalone Router",
            "Client -> Router, Server -> Router (standalone)",
            "Client and server are both connected to the only router, a standalone one.",
        ),
        _listed(
            "interior",
            0,
            "Client and Server connected to an interior Router",
            "Client -> Router, Server -> Router (interior)",
            "Client and server are both connected to the only router, which is ready to be one of a"
            " network.",
        ),
        _listed(
            "line",
            2,
            "Three Routers in Line",
            "Client -> R1 - R2 - R3 <- Server",
            "Client and server are connected to the two ends of three routers in line.",
        ),
        _listed(
            "redundant",
            2,
            "Three Routers in Line, and a Fourth beside them",
            "Client -> R1 - R2 - R3 <- Server, R4 beside R2",
            "Client and server are connected to the two ends of three routers in line; a fourth one"
            " joins these ends, too, at twice the cost.",
        ),
        _listed(
            "broker-between",
            2,
            "A Broker between two Routers",
            "Client -> R1 - Broker - R2 <- Server",
            "Client and server are connected to two routers, which pass their links on to one"
            " broker.",
        ),
        _listed(
            GRAPH,
            -1,
            "A Network of its own",
            "Client -> first Router, last Router <- Server",
            "Client and server are connected to the first and the last router of the network that"
            " the plan describes.",
        ),
    ),
    _of_form,
)
"""The topologies of routers; that of each form is made of its name."""

"""Networks of routers, with brokers beside them: what they are, and how their routers are told.

It reads no file and starts nothing; both halves know networks by their names.
"""

from mqperf.plan.networks.configuration import Addresses, configuration, listeners
from mqperf.plan.networks.forms import FORMS, Form
from mqperf.plan.networks.named import GRAPH, NETWORKS, named
from mqperf.plan.networks.network import (
    BROKER,
    DEFAULTS,
    EDGE,
    INTERIOR,
    STANDALONE,
    Edge,
    Network,
    Node,
)
from mqperf.plan.networks.node_link import as_node_link, from_node_link
from mqperf.plan.networks.routes import costs, ends, neighbours, next_hops

__all__ = [
    "BROKER",
    "DEFAULTS",
    "EDGE",
    "FORMS",
    "GRAPH",
    "INTERIOR",
    "NETWORKS",
    "STANDALONE",
    "Addresses",
    "Edge",
    "Form",
    "Network",
    "Node",
    "as_node_link",
    "configuration",
    "costs",
    "ends",
    "from_node_link",
    "listeners",
    "named",
    "neighbours",
    "next_hops",
]

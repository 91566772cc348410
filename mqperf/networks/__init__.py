"""Networks of routers, with brokers beside them: what they are, and how their routers are told.

It reads no file and starts nothing; both halves know networks by their names.
"""

from mqperf.networks.configuration import Addresses, configuration, listeners
from mqperf.networks.forms import FORMS, Form
from mqperf.networks.named import GRAPH, NETWORKS, named
from mqperf.networks.network import (
    BROKER,
    DEFAULTS,
    EDGE,
    INTERIOR,
    STANDALONE,
    Edge,
    Network,
    Node,
)
from mqperf.networks.node_link import as_node_link, from_node_link
from mqperf.networks.routes import costs, ends, neighbours, next_hops

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

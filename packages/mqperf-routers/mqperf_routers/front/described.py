"""A file that describes a network: its keys, and the network that they make."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

from pydantic import AliasChoices, BaseModel, Field

from mqperf_routers.plan.forms import FORMS, alternating, with_brokers
from mqperf_routers.plan.network import BROKER, Edge, Network, NetworkError, NetworkNode
from mqperf_routers.plan.node_link import from_node_link
from mqperf_routers.plan.topologies import NETWORKS, named

Ids = Sequence[str]


class NetworkFile(BaseModel, frozen=True, extra="forbid"):
    """The keys of the file; exactly one of ``form``, ``graph`` and ``graph_file`` is given."""

    form: str | None = Field(default=None, validation_alias=AliasChoices("form", "graph_type"))
    graph: dict[str, Any] | None = None
    graph_file: str | None = None
    brokers: int = Field(default=0, ge=0, le=100, strict=True)
    inventory: str | None = Field(
        default=None, validation_alias=AliasChoices("inventory", "hostfile")
    )
    addresses: tuple[dict[str, str | int], ...] = ()

    def network(self, data: object, routers: Ids | None, brokers: Ids | None) -> Network:
        """Return the network; ``data`` is the content of its graph file.

        ``routers`` and ``brokers`` are the hosts of an inventory, if there is one.
        """
        sources = [self.form, self.graph, self.graph_file]
        if sum(source is not None for source in sources) != 1:
            raise NetworkError("give one of form, graph and graph_file")
        if self.form is None:
            return from_node_link(self.graph if self.graph is not None else data)
        broker_ids = brokers or [f"B{number + 1}" for number in range(self.brokers)]
        if self.form in METADATA:
            if routers is None:
                raise NetworkError(f"{self.form} takes its routers from an inventory: name it")
            return METADATA[self.form](routers, broker_ids)
        network = _network_of_form(self.form, routers)
        return with_brokers(network, broker_ids) if broker_ids else network


def _network_of_form(form: str, routers: Ids | None) -> Network:
    """Return the network of a form, with the inventory's routers if there are any."""
    name, _, numbers = form.partition("-")
    if routers is not None and name in FORMS:
        return FORMS[name].network(numbers or str(len(routers)), routers)
    network = named(form)
    if network is None:
        forms = (choice.shown for choice in FORMS.values())
        raise NetworkError(f"unknown form {form!r}; known: {', '.join((*forms, *NETWORKS))}")
    if routers is not None:
        raise NetworkError(f"{form} has routers of its own: take a graph with the inventory's")
    return network


def _in_line(routers: Ids, brokers: Ids) -> Network:
    """Return routers in line, with half of the brokers at each end."""
    line = _routers_only("line", routers)
    half = len(brokers) // 2
    edges = [Edge(routers[0], broker) for broker in brokers[:half]]
    edges += [Edge(routers[-1], broker) for broker in brokers[half:]]
    return Network(
        (*line.nodes, *(NetworkNode(broker, BROKER) for broker in brokers)), (*line.edges, *edges)
    )


def _complete(routers: Ids, brokers: Ids) -> Network:
    """Return a network in which every router is joined with every other, and with every broker."""
    mesh = _routers_only("complete", routers)
    edges = [Edge(router, broker) for router, broker in product(routers, brokers)]
    return Network(
        (*mesh.nodes, *(NetworkNode(broker, BROKER) for broker in brokers)), (*mesh.edges, *edges)
    )


def _routers_only(form: str, routers: Ids) -> Network:
    """Return a form of the inventory's routers; a single router is standalone."""
    if len(routers) == 1:
        return Network((NetworkNode(routers[0], NETWORKS["standalone"].nodes[0].role),))
    return FORMS["line" if len(routers) == 2 else form].network(str(len(routers)), routers)


METADATA: Mapping[str, Callable[[Ids, Ids], Network]] = {
    "line_graph": _in_line,
    "bus_graph": lambda routers, brokers: with_brokers(_routers_only("line", routers), brokers),
    "complete_graph": _complete,
    "line_mix_graph": alternating,
    "cycle_graph": lambda routers, brokers: alternating(routers, brokers, ring=True),
}
"""The forms of the generator by Maestro's authors, by their names in its metadata."""

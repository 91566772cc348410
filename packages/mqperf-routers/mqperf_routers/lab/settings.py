"""What a plan says about routers: their settings, and the network that a topology is."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, Field, JsonValue

from mqperf.base.packages import package_of
from mqperf.hosts import HostFolder
from mqperf.lab.systems import SYSTEMS, lookup
from mqperf.lab.systems.service import Server
from mqperf.lab.systems.settings import Flag, SystemSettings, checked
from mqperf.plan.topologies import TOPOLOGIES
from mqperf_routers.plan.network import DEFAULTS, Network, NetworkError
from mqperf_routers.plan.node_link import from_node_link
from mqperf_routers.plan.topologies import GRAPH, named

NAME = "qpid-dispatch"
BROKERS = "artemis"
"""The system of brokers between routers."""


def _network(data: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """The data, which describe a network; raises ``ValueError``."""
    try:
        network = from_node_link(data)
    except NetworkError as error:
        raise ValueError(str(error)) from None
    if any(node.defaults != DEFAULTS for node in network.nodes):
        raise ValueError("listeners and connectors of private routers are made: leave def_... out")
    if why := _lacks(network):
        raise ValueError(why)
    return data


class RouterSettings(SystemSettings):
    """What a plan may say about routers; with ``tls`` clients connect encrypted only."""

    program: str | None = Field(default=None, min_length=1, max_length=1_000)
    worker_threads: int = Field(default=4, ge=1, le=1_000, strict=True)
    link_capacity: int = Field(default=250, ge=1, le=1_000_000, strict=True)
    tls: Flag = False
    graph: Annotated[dict[str, JsonValue], AfterValidator(_network)] | None = None


def check(settings: Mapping[str, JsonValue]) -> RouterSettings:
    """Check what a plan says about routers."""
    return checked(NAME, RouterSettings, settings)


def network_of(topology: str, settings: Mapping[str, JsonValue]) -> Network:
    """The network that a topology is, with these settings; raises as ``check`` does.

    So it raises ``NetworkError`` where there is none of that name.
    """
    graph = check(settings).graph
    if topology == GRAPH and graph is not None:
        return from_node_link(graph)
    network = named(topology)
    if network is None:
        raise NetworkError(f"{NAME}: no network {topology!r}")
    return network


def incompatible_settings(topology: str, settings: Mapping[str, JsonValue]) -> str | None:
    """Why there is no such topology with these settings: it is to be described, and is not."""
    if topology == GRAPH and settings.get(GRAPH) is None:
        return f"the topology {GRAPH} needs the setting {GRAPH}: describe the network there"
    network = named(topology) if topology in TOPOLOGIES else None
    why = None if network is None else _lacks(network)
    return why and f"the topology {topology}: {why}"


def broker(label: str, host_folder: HostFolder, port: int) -> Server:
    """A broker beside routers, at a port; raises ``SystemFault`` where there can be none."""
    return lookup(BROKERS).broker(label, host_folder, port)


def _lacks(network: Network) -> str | None:
    """Why there are no brokers for the network: their package is not installed."""
    if not network.brokers or BROKERS in SYSTEMS:
        return None
    return f"its broker is of the system {BROKERS}: install {package_of(BROKERS)}"

"""A plan's settings of routers, and the network of a topology."""

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


def _valid_graph(data: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the data; raise ``ValueError`` if they do not describe a network."""
    try:
        network = from_node_link(data)
    except NetworkError as error:
        raise ValueError(str(error)) from None
    if any(node.defaults != DEFAULTS for node in network.nodes):
        raise ValueError("listeners and connectors of private routers are made: leave def_... out")
    if why := _missing_brokers(network):
        raise ValueError(why)
    return data


class RouterSettings(SystemSettings):
    """The settings of routers in a plan; with ``tls`` all clients connect encrypted."""

    program: str | None = Field(default=None, min_length=1, max_length=1_000)
    worker_threads: int = Field(default=4, ge=1, le=1_000, strict=True)
    link_capacity: int = Field(default=250, ge=1, le=1_000_000, strict=True)
    tls: Flag = False
    graph: Annotated[dict[str, JsonValue], AfterValidator(_valid_graph)] | None = None


def check(settings: Mapping[str, JsonValue]) -> RouterSettings:
    """Check the settings of routers in a plan."""
    return checked(NAME, RouterSettings, settings)


def network_of(topology: str, settings: Mapping[str, JsonValue]) -> Network:
    """Return the network of a topology with these settings; raise what ``check`` raises.

    Raise ``NetworkError`` where no network has that name.
    """
    graph = check(settings).graph
    if topology == GRAPH and graph is not None:
        return from_node_link(graph)
    network = named(topology)
    if network is None:
        raise NetworkError(f"{NAME}: no network {topology!r}")
    return network


def incompatible_settings(topology: str, settings: Mapping[str, JsonValue]) -> str | None:
    """Return why these settings exclude a topology: no graph or no brokers; None if they do not."""
    if topology == GRAPH and settings.get(GRAPH) is None:
        return f"the topology {GRAPH} needs the setting {GRAPH}: describe the network there"
    network = named(topology) if topology in TOPOLOGIES else None
    why = None if network is None else _missing_brokers(network)
    return why and f"the topology {topology}: {why}"


def broker(label: str, host_folder: HostFolder, port: int) -> Server:
    """Return a broker beside routers, at a port; raise ``SystemFault`` where there can be none."""
    return lookup(BROKERS).broker(label, host_folder, port)


def _missing_brokers(network: Network) -> str | None:
    """Return a problem if the network has brokers whose package is not installed."""
    if not network.brokers or BROKERS in SYSTEMS:
        return None
    return f"its broker is of the system {BROKERS}: install {package_of(BROKERS)}"

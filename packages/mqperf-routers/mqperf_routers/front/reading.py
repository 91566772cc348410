"""Reading the input of ``mqperf topology``: a plan, a description of a network, or a graph."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from mqperf.base.document import MAX_BYTES, DocumentError, read_document
from mqperf.base.problems import of_validation
from mqperf.hosts import HOSTS, inventory, lookup
from mqperf.hosts.inventory.listing import Listing
from mqperf.hosts.place import Place
from mqperf.lab.systems.in_plans import problems_of
from mqperf.plan.file import load_plan
from mqperf.plan.file.reading import UnreadableError, first_bytes
from mqperf_routers.front.described import NetworkFile
from mqperf_routers.front.places import Placed
from mqperf_routers.lab.settings import NAME, network_of
from mqperf_routers.plan.network import Network, NetworkError, NetworkNode
from mqperf_routers.plan.node_link import NODES

GROUPS = ("routers", "brokers")
"""The groups of an inventory whose hosts are nodes of a network."""


def read(path: Path) -> list[Placed]:
    """Return every network that the file describes, with the hosts of its nodes.

    Of a plan, these are the topologies of its systems that are networks. Raise ``NetworkError``,
    in one line, for an invalid network, ``PlanError`` for a plan and ``HostError`` for an inventory
    that cannot be read.
    """
    data = _read_data(path)
    try:
        networks = _networks(data, path)
        for placed in networks:
            placed.addresses()
    except NetworkError as error:
        raise NetworkError(f"{path}: {error}") from None
    return networks


def _networks(data: object, path: Path) -> list[Placed]:
    if isinstance(data, Mapping) and "systems" in data:
        return _of_plan(path)
    if isinstance(data, Mapping) and NODES in data:
        data = {"graph": data}
    return [_described(data, path)]


def _read_data(path: Path) -> object:
    """Return the data of a YAML or JSON file."""
    try:
        content = first_bytes(path, MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise NetworkError(f"{path}: more than {MAX_BYTES:,} bytes: describe a smaller network")
        document = read_document(content.decode("utf-8"))
    except UnreadableError as error:
        raise NetworkError(f"{path}: cannot be read: {error}") from None
    except UnicodeDecodeError:
        raise NetworkError(f"{path}: not text in UTF-8: correct or replace the file") from None
    except DocumentError as error:
        raise NetworkError(f"{path}:{error.line}: {error}") from None
    for line, problem in document.problems:
        raise NetworkError(f"{path}:{line}: {problem.sentence()}")
    return document.data


def _described(data: object, path: Path) -> Placed:
    file = _validated(data)
    folder = path.parent
    listing = inventory.listing(folder / file.inventory) if file.inventory else None
    groups = [[*listing.groups.get(name, ())] if listing else None for name in GROUPS]
    if listing is not None and not groups[0]:
        raise NetworkError(
            f"{listing.source} has no hosts in the group {GROUPS[0]!r}: name the routers there"
        )
    graph = _read_data(folder / file.graph_file) if file.graph_file else None
    network = _with_addresses(file.network(graph, *groups), file.addresses)
    return _placed(path.stem, network, listing)


def _validated(data: object) -> NetworkFile:
    try:
        return NetworkFile.model_validate(data)
    except ValidationError as error:
        known = [*NetworkFile.model_fields]
        raise NetworkError(
            "; ".join(problem.sentence() for problem in of_validation(error, lambda _: known))
        ) from None


def _with_addresses(network: Network, addresses: Sequence[Mapping[str, str | int]]) -> Network:
    """Return the network with these ``address`` entities in the configuration of every router."""
    more = tuple(("address", address) for address in addresses)
    routers = {node.id for node in network.routers}
    nodes = [
        replace(node, sections=(*node.sections, *more)) if node.id in routers else node
        for node in network.nodes
    ]
    return Network(tuple(nodes), network.edges)


def _placed(name: str, network: Network, listing: Listing | None) -> Placed:
    """Return the network on hosts that are named by its nodes' ``host``, or else by their ids."""
    if listing is None:
        by_node = {node.id: node.host or node.id for node in network.nodes}
        return Placed(name, network, by_node, by_node)
    for node in network.nodes:
        if _host_of(node) not in listing.hosts:
            raise NetworkError(
                f"{listing.source} has no host {_host_of(node)!r}, on which {node.id} would run:"
                " add it"
            )
    hosts = {node.id: _host_of(node) for node in network.nodes}
    reached = {node: inventory.address(listing, host) for node, host in hosts.items()}
    return Placed(name, network, hosts, reached)


def _host_of(node: NetworkNode) -> str:
    return node.host or node.id


def _of_plan(path: Path) -> list[Placed]:
    """Return the networks of a plan, on its broker hosts in their order."""
    plan = load_plan(path, problems_of)
    routers = plan.systems.get(NAME)
    if routers is None:
        raise NetworkError("none of its topologies is a network of routers")
    settings = routers.variants()[0]
    networks = [(topology, network_of(topology, settings)) for topology in routers.topologies]
    if plan.hosts is None or plan.hosts in HOSTS:
        return [_placed(name, network, None) for name, network in networks]
    places = inventory.read(Path(lookup(plan.hosts).name)).broker
    return [_dealt_out(name, network, places) for name, network in networks]


def _dealt_out(name: str, network: Network, places: Sequence[Place]) -> Placed:
    """Return the network with its nodes on these hosts in turn."""
    by_node = {node.id: places[number % len(places)] for number, node in enumerate(network.nodes)}
    names = {node: place.name for node, place in by_node.items()}
    reached = {node: place.listens or place.address for node, place in by_node.items()}
    return Placed(name, network, names, reached)

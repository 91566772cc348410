"""The configuration file of a router in a network."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mqperf_routers.plan.network import BROKER, Network, NetworkNode, joined_as

CLIENTS = "normal"
"""The role of a connection of clients."""

INSIDE = ("inter-router", "edge")
"""The roles of connections from other routers."""

Addresses = Mapping[tuple[str, str], tuple[str, int]]
"""By node and role of a connection: the host and the port where it is reached."""

Section = tuple[str, Mapping[str, Any]]

ANONYMOUS = {"authenticatePeer": "no", "saslMechanisms": "ANONYMOUS"}


def configuration(
    network: Network,
    node: NetworkNode,
    addresses: Addresses,
    *,
    listen: str | None = None,
    more: Mapping[str, Mapping[str, Any]] | None = None,
) -> str:
    """Return the content of a router's configuration file.

    ``listen`` is the address to listen at, if that is not the one where the router is reached.
    ``more`` has attributes for its ``router`` entity, and for its ``listener`` for clients.
    """
    more = more or {}
    router = {"mode": node.role, "id": node.id, **more.get("router", {}), **node.router}
    sections = [
        ("router", router),
        *_listeners(network, node, addresses, listen, more.get("listener", {})),
        *_connectors(network, node, addresses),
        *node.sections,
    ]
    return written(sections)


def written(sections: Iterable[Section]) -> str:
    """Return sections as text for the file, which must have one attribute a line."""
    return "".join(f"{line}\n" for section in sections for line in _lines(*section))


def listeners(network: Network, node: NetworkNode) -> tuple[str, ...]:
    """Return the roles of the connections that a node accepts: that of clients first."""
    if node.role != BROKER and "listener" not in node.defaults:
        return ()
    inside = {joined_as(who, whom) for _, who, whom in network.connections() if whom == node}
    return (CLIENTS, *(role for role in INSIDE if role in inside))


def _listeners(
    network: Network,
    node: NetworkNode,
    addresses: Addresses,
    listen: str | None,
    clients: Mapping[str, Any],
) -> Iterator[Section]:
    for role in listeners(network, node):
        host, port = addresses[node.id, role]
        attributes = {"role": role, "host": listen or host, "port": port, **ANONYMOUS}
        yield "listener", {**attributes, **(clients if role == CLIENTS else {})}


def _connectors(network: Network, node: NetworkNode, addresses: Addresses) -> Iterator[Section]:
    """Yield a connector for each edge on which the node connects; link routes, too, to a broker."""
    if "connector" not in node.defaults:
        return
    for edge, who, whom in network.connections():
        role = joined_as(who, whom)
        if who != node or role is None:
            continue
        host, port = addresses[whom.id, CLIENTS if whom.role == BROKER else role]
        name = f"to-{whom.id}"
        cost = {"cost": edge.cost} if role == "inter-router" and edge.cost > 1 else {}
        yield "connector", {"name": name, "role": role, "host": host, "port": port, **cost}
        if whom.role == BROKER:
            for pattern in whom.patterns or (f"{whom.id}.#",):
                for way in ("in", "out"):
                    yield "linkRoute", {"pattern": pattern, "direction": way, "connection": name}


def _lines(name: str, attributes: Mapping[str, Any]) -> Iterator[str]:
    yield f"{name} {{"
    yield from (f"    {key}: {_text(value)}" for key, value in attributes.items())
    yield "}"


def _text(value: object) -> str:
    """Return a value in the syntax of routers."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)

"""The node-link format of graphs, as networkx writes it, with additional keys for routers."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mqperf_routers.plan.network import (
    BROKER,
    INTERIOR,
    STANDALONE,
    Edge,
    Network,
    NetworkError,
    NetworkNode,
)

NODES = "nodes"
EDGES = ("edges", "links")
"""The key of the edges in networkx since 3.6, and before."""

COSTS = ("cost", "weight", "value")
"""The keys of an edge that may have its cost."""

OWN = ("id", "role", "type", "mode", "host", "port", "router", "patterns", "def_list", "def_conn")
DEFAULTS = {"def_list": "listener", "def_conn": "connector"}
"""Key of a node that, set to false, suppresses a kind of derived entities -> that kind."""

ENTITY = re.compile(r"[a-z][A-Za-z]*")


def from_node_link(data: object) -> Network:
    """Return the network in node-link data; raise ``NetworkError``.

    A node has an ``id`` and a ``role``; instead of the latter, a ``type`` (router or broker) and a
    ``mode``. A router without a mode is interior if it has an edge to a router, else standalone.
    Ends of edges are ids or, where no node has such an id, positions.
    """
    if not isinstance(data, Mapping) or not isinstance(data.get(NODES), list | tuple):
        raise NetworkError("expected node-link data: a mapping with nodes and edges")
    if data.get("directed"):
        raise NetworkError("the graph is directed: routers are joined both ways; write it as none")
    entries = [_mapping(entry, "a node") for entry in data[NODES]]
    ids = [_id(entry) for entry in entries]
    edges = tuple(_edges(data, ids))
    roles = [_role(entry) for entry in entries]
    brokers = {name for name, role in zip(ids, roles, strict=True) if role == BROKER}
    ends = [{edge.first, edge.second} for edge in edges]
    joined = {name for pair in ends if not pair & brokers for name in pair}
    nodes = [
        _node(entry, name, role or (INTERIOR if name in joined else STANDALONE))
        for entry, name, role in zip(entries, ids, roles, strict=True)
    ]
    return Network(tuple(nodes), edges)


def as_node_link(network: Network) -> dict[str, Any]:
    """Return the network as node-link data, which ``from_node_link`` and networkx read."""
    nodes = []
    for node in network.nodes:
        attributes: dict[str, Any] = {"id": node.id, "role": node.role}
        attributes |= {key: getattr(node, key) for key in ("host", "port") if getattr(node, key)}
        nodes.append(attributes)
    edges = [
        {"source": edge.first, "target": edge.second, "cost": edge.cost} for edge in network.edges
    ]
    return {"directed": False, "multigraph": False, "graph": {}, "nodes": nodes, "edges": edges}


def _mapping(value: object, subject: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise NetworkError(f"{subject} is {value!r}: expected a mapping")
    return value


def _id(entry: Mapping[str, Any]) -> str:
    name = entry.get("id")
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise NetworkError("a node has no id: give each one")
    return str(name)


def _edges(data: Mapping[str, Any], ids: Sequence[str]) -> Iterator[Edge]:
    key = next((name for name in EDGES if name in data), None)
    entries = data[key] if key else []
    if not isinstance(entries, list | tuple):
        raise NetworkError(f"{key}: expected a list of mappings with source and target")
    for entry in entries:
        edge = _mapping(entry, "an edge")
        ends = [_end(edge.get(way), ids) for way in ("source", "target")]
        cost, *others = [edge[name] for name in COSTS if name in edge] or [1]
        is_number = isinstance(cost, int | float) and not isinstance(cost, bool)
        if not is_number or cost % 1 or any(other != cost for other in others):
            raise NetworkError(
                f"the edge between {ends[0]} and {ends[1]}: expected one cost, a whole number"
            )
        yield Edge(ends[0], ends[1], int(cost))


def _end(end: object, ids: Sequence[str]) -> str:
    if isinstance(end, int) and str(end) not in ids and 0 <= end < len(ids):
        return ids[end]
    if isinstance(end, bool) or not isinstance(end, str | int):
        raise NetworkError("an edge lacks its source or its target: name both")
    return str(end)


def _role(entry: Mapping[str, Any]) -> str | None:
    """Return the role that a node states; None for a router that states neither role nor mode."""
    mode = entry.get("mode") or _router(entry).get("mode")
    role = entry.get("role") or (BROKER if entry.get("type") == BROKER else mode)
    return None if role is None else str(role)


def _router(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the attributes of the router itself, which may be in a list of one."""
    router = entry.get("router", {})
    if isinstance(router, list) and len(router) == 1:
        router = router[0]
    return _mapping(router, f"router of {entry['id']}")


def _node(entry: Mapping[str, Any], name: str, role: str) -> NetworkNode:
    host, port = entry.get("host"), entry.get("port")
    if port is not None and (not isinstance(port, int) or not 0 < port < 1 << 16):
        raise NetworkError(f"the port of {name} is {port!r}: expected 1 to 65535")
    patterns = entry.get("patterns", ())
    if not isinstance(patterns, list | tuple):
        raise NetworkError(f"the patterns of {name}: expected a list of them")
    return NetworkNode(
        id=name,
        role=role,
        host=None if host is None else str(host),
        port=port,
        router={
            key: _scalar(value, f"{key} of {name}")
            for key, value in _router(entry).items()
            if key not in {"id", "mode"}
        },
        sections=tuple(_sections(entry, name)),
        defaults=frozenset(
            entity for key, entity in DEFAULTS.items() if entry.get(key) is not False
        ),
        patterns=tuple(str(_scalar(pattern, f"patterns of {name}")) for pattern in patterns),
    )


def _sections(entry: Mapping[str, Any], name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the entities in a node's own keys: a mapping each, or a list of mappings."""
    for key, value in entry.items():
        sections = [value] if isinstance(value, Mapping) else value
        if key in OWN or not isinstance(sections, list):
            continue
        if not ENTITY.fullmatch(key):
            raise NetworkError(f"{name}: {key!r} is no entity of a router's configuration")
        for section in sections:
            items = _mapping(section, f"{key} of {name}").items()
            yield key, {attribute: _scalar(v, f"{attribute} of {name}") for attribute, v in items}


def _scalar(value: object, subject: str) -> object:
    """Return a value that fits on one line; raise ``NetworkError`` for any other."""
    if not isinstance(value, str | int | float) or not str(value).isprintable():
        raise NetworkError(f"{subject} is {value!r}: expected text, a number, true or false")
    return value

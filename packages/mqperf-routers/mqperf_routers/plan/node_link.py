"""The node-link form of a graph, as networkx writes it, with what metadata of routers add."""

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
"""What graphs call their edges: networkx since 3.6, and before."""

COSTS = ("cost", "weight", "value")
"""What they call a cost."""

OWN = ("id", "role", "type", "mode", "host", "port", "router", "patterns", "def_list", "def_conn")
DEFAULTS = {"def_list": "listener", "def_conn": "connector"}
"""By the words of a node that keep them away, the entities that follow from the network."""

ENTITY = re.compile(r"[a-z][A-Za-z]*")


def from_node_link(data: object) -> Network:
    """The network in node-link data.

    A node has an ``id`` and a ``role``; instead of the latter, a ``type`` (router or broker) and a
    ``mode``. A router whose mode is not said is an interior one if it has a router beside it. Ends
    of edges are ids or, where no node has such an id, positions. Raises ``NetworkError``.
    """
    if not isinstance(data, Mapping) or not isinstance(data.get(NODES), list | tuple):
        raise NetworkError("expected node-link data: a mapping with nodes and edges")
    if data.get("directed"):
        raise NetworkError("the graph is directed: routers are joined both ways; write it as none")
    entries = [_mapping(entry, "a node") for entry in data[NODES]]
    ids = [_id(entry) for entry in entries]
    edges = tuple(_edges(data, ids))
    kinds = [_role(entry) for entry in entries]
    brokers = {name for name, kind in zip(ids, kinds, strict=True) if kind == BROKER}
    ends = [{edge.first, edge.second} for edge in edges]
    joined = {name for pair in ends if not pair & brokers for name in pair}
    nodes = [
        _node(entry, name, kind or (INTERIOR if name in joined else STANDALONE))
        for entry, name, kind in zip(entries, ids, kinds, strict=True)
    ]
    return Network(tuple(nodes), edges)


def as_node_link(network: Network) -> dict[str, Any]:
    """The network as node-link data, which ``from_node_link`` and networkx read."""
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
        number = isinstance(cost, int | float) and not isinstance(cost, bool)
        if not number or cost % 1 or any(other != cost for other in others):
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
    """What a node says of its role; None where it is a router, and says no more."""
    mode = entry.get("mode") or _router(entry).get("mode")
    role = entry.get("role") or (BROKER if entry.get("type") == BROKER else mode)
    return None if role is None else str(role)


def _router(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Attributes of the router itself, which metadata have in a list of one."""
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
    """Entities that the node names itself: a mapping each, or several in a list."""
    for key, value in entry.items():
        several = [value] if isinstance(value, Mapping) else value
        if key in OWN or not isinstance(several, list):
            continue
        if not ENTITY.fullmatch(key):
            raise NetworkError(f"{name}: {key!r} is no entity of a router's configuration")
        for section in several:
            attributes = _mapping(section, f"{key} of {name}")
            yield (
                key,
                {
                    word: _scalar(content, f"{word} of {name}")
                    for word, content in attributes.items()
                },
            )


def _scalar(value: object, subject: str) -> object:
    """A value that stands on one line."""
    if not isinstance(value, str | int | float) or not str(value).isprintable():
        raise NetworkError(f"{subject} is {value!r}: expected text, a number, true or false")
    return value

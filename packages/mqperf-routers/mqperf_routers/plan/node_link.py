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
    Node,
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
    said = [_mapping(one, "a node") for one in data[NODES]]
    ids = [_id(one) for one in said]
    edges = tuple(_edges(data, ids))
    kinds = [_role(one) for one in said]
    brokers = {name for name, kind in zip(ids, kinds, strict=True) if kind == BROKER}
    ends = [{edge.first, edge.second} for edge in edges]
    joined = {name for pair in ends if not pair & brokers for name in pair}
    nodes = [
        _node(one, name, kind or (INTERIOR if name in joined else STANDALONE))
        for one, name, kind in zip(said, ids, kinds, strict=True)
    ]
    return Network(tuple(nodes), edges)


def as_node_link(network: Network) -> dict[str, Any]:
    """The network as node-link data, which ``from_node_link`` and networkx read."""
    nodes = []
    for node in network.nodes:
        told: dict[str, Any] = {"id": node.id, "role": node.role}
        told |= {key: getattr(node, key) for key in ("host", "port") if getattr(node, key)}
        nodes.append(told)
    edges = [{"source": one.first, "target": one.second, "cost": one.cost} for one in network.edges]
    return {"directed": False, "multigraph": False, "graph": {}, "nodes": nodes, "edges": edges}


def _mapping(one: object, what: str) -> Mapping[str, Any]:
    if not isinstance(one, Mapping):
        raise NetworkError(f"{what} is {one!r}: expected a mapping")
    return one


def _id(said: Mapping[str, Any]) -> str:
    name = said.get("id")
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise NetworkError("a node has no id: give each one")
    return str(name)


def _edges(data: Mapping[str, Any], ids: Sequence[str]) -> Iterator[Edge]:
    key = next((one for one in EDGES if one in data), None)
    said = data[key] if key else []
    if not isinstance(said, list | tuple):
        raise NetworkError(f"{key}: expected a list of mappings with source and target")
    for one in said:
        edge = _mapping(one, "an edge")
        ends = [_end(edge.get(way), ids) for way in ("source", "target")]
        told = {edge[name] for name in COSTS if name in edge} or {1}
        cost = told.pop()
        if told or isinstance(cost, bool) or not isinstance(cost, int | float) or cost % 1:
            raise NetworkError(
                f"the edge between {ends[0]} and {ends[1]}: expected one cost, a whole number"
            )
        yield Edge(ends[0], ends[1], int(cost))


def _end(said: object, ids: Sequence[str]) -> str:
    if isinstance(said, int) and str(said) not in ids and 0 <= said < len(ids):
        return ids[said]
    if isinstance(said, bool) or not isinstance(said, str | int):
        raise NetworkError("an edge lacks its source or its target: name both")
    return str(said)


def _role(said: Mapping[str, Any]) -> str | None:
    """What a node says of its role; None where it is a router, and says no more."""
    mode = said.get("mode") or _router(said).get("mode")
    role = said.get("role") or (BROKER if said.get("type") == BROKER else mode)
    return None if role is None else str(role)


def _router(said: Mapping[str, Any]) -> Mapping[str, Any]:
    """Attributes of the router itself, which metadata have in a list of one."""
    own = said.get("router", {})
    if isinstance(own, list) and len(own) == 1:
        own = own[0]
    return _mapping(own, f"router of {said['id']}")


def _node(said: Mapping[str, Any], name: str, role: str) -> Node:
    host, port = said.get("host"), said.get("port")
    if port is not None and (not isinstance(port, int) or not 0 < port < 1 << 16):
        raise NetworkError(f"the port of {name} is {port!r}: expected 1 to 65535")
    patterns = said.get("patterns", ())
    return Node(
        id=name,
        role=role,
        host=None if host is None else str(host),
        port=port,
        router={
            key: _scalar(value, f"{key} of {name}")
            for key, value in _router(said).items()
            if key not in {"id", "mode"}
        },
        sections=tuple(_sections(said, name)),
        defaults=frozenset(
            entity for key, entity in DEFAULTS.items() if said.get(key) is not False
        ),
        patterns=tuple(str(_scalar(one, f"patterns of {name}")) for one in patterns),
    )


def _sections(said: Mapping[str, Any], name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Entities that the node names itself: a mapping each, or several in a list."""
    for key, value in said.items():
        several = [value] if isinstance(value, Mapping) else value
        if key in OWN or not isinstance(several, list):
            continue
        if not ENTITY.fullmatch(key):
            raise NetworkError(f"{name}: {key!r} is no entity of a router's configuration")
        for one in several:
            attributes = _mapping(one, f"{key} of {name}")
            yield (
                key,
                {word: _scalar(what, f"{word} of {name}") for word, what in attributes.items()},
            )


def _scalar(value: object, what: str) -> object:
    """A value that stands on one line."""
    if not isinstance(value, str | int | float) or not str(value).isprintable():
        raise NetworkError(f"{what} is {value!r}: expected text, a number, true or false")
    return value

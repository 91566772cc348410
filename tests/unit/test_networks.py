"""Networks of routers: valid forms, invalid ones, and shortest paths."""

import json
from itertools import product
from math import inf
from pathlib import Path
from typing import Any

import pytest
from refused import refused

from mqperf.base.errors import PlanError
from mqperf.plan.file import parse_plan
from mqperf.plan.topologies import TOPOLOGIES
from mqperf_routers.lab.configuration import configuration, listeners
from mqperf_routers.plan.forms import FORMS
from mqperf_routers.plan.network import (
    BROKER,
    EDGE,
    INTERIOR,
    STANDALONE,
    Edge,
    Network,
    NetworkError,
    NetworkNode,
)
from mqperf_routers.plan.node_link import as_node_link, from_node_link
from mqperf_routers.plan.routes import costs, ends, next_hops
from mqperf_routers.plan.topologies import named

NAMES = ("line-5", "ring-4", "star-5", "tree-7", "complete-4", "grid-2x3", "random-9-1")


def pairs(name: str) -> set[tuple[str, str]]:
    network = named(name)
    assert network is not None
    return {(edge.first, edge.second) for edge in network.edges}


def routers(*names: str) -> tuple[NetworkNode, ...]:
    return tuple(NetworkNode(name, INTERIOR) for name in names)


def test_forms_are_what_their_names_say() -> None:
    """Routers are R1, R2 and so on, with at most one edge between two."""
    assert pairs("line-3") == {("R1", "R2"), ("R2", "R3")}
    assert pairs("ring-4") == {("R1", "R2"), ("R2", "R3"), ("R3", "R4"), ("R1", "R4")}
    assert pairs("star-4") == {("R1", "R2"), ("R1", "R3"), ("R1", "R4")}
    assert pairs("tree-5") == {("R1", "R2"), ("R1", "R3"), ("R2", "R4"), ("R2", "R5")}
    assert len(pairs("complete-6")) == 15
    assert pairs("grid-2x2") == {("R1", "R2"), ("R1", "R3"), ("R2", "R4"), ("R3", "R4")}


def test_random_networks_are_repeated_by_their_seed() -> None:
    """Equal seeds give equal connected networks, other seeds other ones."""
    assert named("random-20-7") == named("random-20-7") != named("random-20-8")
    for seed in range(50):
        network = named(f"random-8-{seed}")
        assert network is not None
        assert len(network.edges) == 7 + 4
        assert {edge.cost for edge in network.edges} <= {1, 2, 3}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ring-2", "ring-2: 2 routers, expected 3 to 100"),
        ("line-999", "line-999: 999 routers, expected 2 to 100"),
        ("grid-3", "grid-3: expected grid-ROWSxCOLUMNS"),
        ("random-5", "random-5: expected random-SIZE-SEED"),
        ("star-x", "star-x: expected star-SIZE"),
    ],
)
def test_an_invalid_form_is_refused(name: str, message: str) -> None:
    """The error has the limits or the expected format."""
    with pytest.raises(NetworkError) as error:
        named(name)
    assert str(error.value) == message
    assert name not in TOPOLOGIES


def test_a_plan_with_an_invalid_form_is_refused() -> None:
    """The error has the line; systems without networks refuse all forms."""
    text = (
        "systems:\n  {0}:\n    topologies: [{1}]\n    queues: [routed]\n"
        "test_cases: [transfer]\nload: {{generator: amqp-1.0, green_threads: 1, duration_s: 1}}\n"
    )
    words = "test.yaml:3: systems.{0}.topologies entry 1: {1}"
    with pytest.raises(PlanError) as error:
        parse_plan(text.format("qpid-dispatch", "ring-2"), Path("test.yaml"))
    assert str(error.value) == words.format("qpid-dispatch", "ring-2: 2 routers, expected 3 to 100")
    refused(text.format("artemis", "ring-4"), r"Artemis has no topology 'ring-4'; it has: single")
    refused(text.format("qpid-dispatch", "graph"), "the topology graph needs the setting graph")


def test_other_names_are_no_networks() -> None:
    """Names of other topologies, for example."""
    assert [named(name) for name in ("cmsm", "any-node", "graph", "ring")] == [None] * 4


@pytest.mark.parametrize("name", NAMES)
def test_every_form_is_a_topology(name: str) -> None:
    """Its label and sentence describe it; client and server are farthest apart."""
    network, topology = named(name), TOPOLOGIES[name]
    assert network is not None
    assert name in topology.label
    assert str(len(network.nodes)) in topology.sentence
    beside = network.neighbours(interior=False)
    ids = [node.id for node in network.nodes]
    far = max(costs(beside, start)[target] for start, target in product(ids, ids))
    assert costs(beside, ids[topology.client])[ids[topology.server]] == far
    assert {*FORMS} >= {name.partition("-")[0]}


def test_topologies_are_counted_by_their_listed_names() -> None:
    """Forms can be looked up, but are not listed."""
    assert "ring-4" in TOPOLOGIES
    assert "ring-4" not in [*TOPOLOGIES]
    assert len(TOPOLOGIES) == len([*TOPOLOGIES])
    assert TOPOLOGIES["line"].server == 2


@pytest.mark.parametrize("name", [*NAMES, "redundant", "random-12-3"])
def test_costs_are_those_of_all_pairs(name: str) -> None:
    """Equal to the Floyd-Warshall algorithm."""
    network = named(name)
    assert network is not None
    ids = [node.id for node in network.nodes]
    away = {(start, target): 0 if start == target else inf for start, target in product(ids, ids)}
    for edge in network.edges:
        away[edge.first, edge.second] = away[edge.second, edge.first] = edge.cost
    for between, start, target in product(ids, ids, ids):
        away[start, target] = min(away[start, target], away[start, between] + away[between, target])
    beside = network.neighbours()
    for start in ids:
        assert costs(beside, start) == {target: away[start, target] for target in ids}
        for target, (cost, hops) in next_hops(network, start).items():
            assert cost == away[start, target]
            assert hops == {
                hop for hop, first in beside[start].items() if first + away[hop, target] == cost
            }


def test_next_hops_are_several_where_ways_cost_the_same() -> None:
    """Both directions around a ring; with costs only the cheaper one."""
    ring, redundant = named("ring-4"), named("redundant")
    assert ring is not None
    assert redundant is not None
    assert next_hops(ring, "R1")["R3"] == (2, frozenset({"R2", "R4"}))
    assert next_hops(redundant, "R1")["R3"] == (2, frozenset({"R2"}))
    assert next_hops(redundant, "R4")["R2"] == (3, frozenset({"R1", "R3"}))


@pytest.mark.parametrize(
    ("nodes", "edges", "message"),
    [
        ((), (), "there is no router: name at least one"),
        ((NetworkNode("B", BROKER),), (), "there is no router: name at least one"),
        (routers("a", "A"), (), "two nodes are called 'A', but for capitals: rename one"),
        (routers("a b"), (), "'a b' is no name of a node: take letters, digits, '.', '_' and '-'"),
        (
            (NetworkNode("a", "hub"),),
            (),
            "a: unknown role 'hub'; known: interior, edge, standalone, broker",
        ),
        (
            routers("a", "b"),
            (),
            "b has no path to a: add an edge",
        ),
        (
            routers("a", "b"),
            (Edge("a", "c"),),
            "the edge between a and c: there is no node 'c'; known: a, b",
        ),
        (
            routers("a"),
            (Edge("a", "a"),),
            "the edge between a and a joins a node with itself: remove it",
        ),
        (
            routers("a", "b"),
            (Edge("a", "b"), Edge("b", "a")),
            "the edge between b and a is there twice: remove one",
        ),
        (
            routers("a", "b"),
            (Edge("a", "b", 0),),
            "the edge between a and b: its cost is 0: expected a whole number from 1 on",
        ),
        (
            (NetworkNode("a", STANDALONE), NetworkNode("b", INTERIOR)),
            (Edge("a", "b"),),
            (
                "the edge between a and b: standalone and interior nodes cannot be joined; give one"
                " of them the role interior"
            ),
        ),
    ],
)
def test_an_invalid_network_is_refused(
    nodes: tuple[NetworkNode, ...], edges: tuple[Edge, ...], message: str
) -> None:
    """The error is one line with the node or edge."""
    with pytest.raises(NetworkError) as error:
        Network(nodes, edges)
    assert str(error.value) == message


MIXED: dict[str, Any] = {
    "nodes": [
        {"id": "hub", "role": "interior"},
        {
            "id": "far",
            "type": "router",
            "address": [{"prefix": "news", "distribution": "multicast"}],
        },
        {"id": "shop", "role": "edge", "router": [{"workerThreads": 2}]},
        {"id": "store", "type": "broker", "port": 5700},
    ],
    "edges": [
        {"source": "hub", "target": "far", "cost": 4},
        {"source": "hub", "target": "shop"},
        {"source": "hub", "target": "store"},
    ],
}


def test_routers_are_configured_by_their_edges() -> None:
    """Each edge has one connector; brokers have link routes in both directions."""
    network = from_node_link(MIXED)
    addresses = {
        (node.id, role): (f"{node.id}.invalid", 6000 + number)
        for node in network.nodes
        for number, role in enumerate(listeners(network, node))
    }
    hub, far, shop = (configuration(network, router, addresses) for router in network.routers)
    assert listeners(network, network["hub"]) == ("normal", "inter-router", "edge")
    assert hub.count("connector {") == 1
    assert "    name: to-store\n    role: route-container\n    host: store.invalid" in hub
    assert hub.count("    pattern: store.#\n") == 2
    assert "    role: inter-router\n    host: hub.invalid\n    port: 6001\n    cost: 4\n" in far
    assert far.endswith("address {\n    prefix: news\n    distribution: multicast\n}\n")
    assert "    role: edge\n    host: hub.invalid\n    port: 6002\n}" in shop
    assert shop.startswith("router {\n    mode: edge\n    id: shop\n    workerThreads: 2\n}")


def test_a_graph_is_read_as_it_was_written() -> None:
    """Also with the older key "links", and with positions instead of ids."""
    network = from_node_link(MIXED)
    written = json.loads(json.dumps(as_node_link(network)))
    again = from_node_link(written)
    assert again.edges == network.edges
    assert [(node.id, node.role) for node in again.nodes] == [
        ("hub", INTERIOR),
        ("far", INTERIOR),
        ("shop", EDGE),
        ("store", BROKER),
    ]
    positions = [{"source": 0, "target": 1, "value": 4}, {"source": 0, "target": 2}]
    former = {"nodes": MIXED["nodes"], "links": [*positions, {"source": 0, "target": 3}]}
    assert from_node_link(former) == network
    assert ends(network) == (1, 2)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "expected node-link data: a mapping with nodes and edges"),
        (
            {"nodes": [{"id": "a"}], "directed": True},
            "the graph is directed: routers are joined both",
        ),
        ({"nodes": [{"name": "a"}]}, "a node has no id: give each one"),
        ({"nodes": ["a"]}, "a node is 'a': expected a mapping"),
        (
            {"nodes": [{"id": "a"}, {"id": "b"}], "edges": [{"source": "a"}]},
            "an edge lacks its source or its target",
        ),
        (
            {
                "nodes": [{"id": "a"}, {"id": "b"}],
                "links": [{"source": 0, "target": 1, "cost": 1.5}],
            },
            "the edge between a and b: expected one cost, a whole number",
        ),
        (
            {
                "nodes": [{"id": "a"}, {"id": "b"}],
                "links": [{"source": 0, "target": 1, "weight": [1]}],
            },
            "the edge between a and b: expected one cost, a whole number",
        ),
        (
            {"nodes": [{"id": "a", "role": "broker", "patterns": "orders.#"}]},
            "the patterns of a: expected a list of them",
        ),
        ({"nodes": [{"id": "a", "port": 0}]}, "the port of a is 0: expected 1 to 65535"),
        (
            {"nodes": [{"id": "a", "address": [{"prefix": "x\n}"}]}]},
            "prefix of a is 'x\\n}': expected text",
        ),
    ],
)
def test_an_invalid_graph_is_refused(data: object, message: str) -> None:
    """The error is one line with the expected format."""
    with pytest.raises(NetworkError) as error:
        from_node_link(data)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)

"""Private routers: their configuration, and the network that they report."""

from pathlib import Path
from typing import Any

import pytest

from mqperf.base.errors import SystemFault
from mqperf.hosts import HostFolder, LocalHost
from mqperf.lab.systems import SYSTEMS, starts
from mqperf.plan import Case, deployments
from mqperf_routers.lab.readiness import misrouted
from mqperf_routers.lab.router import Router, addresses, ports_needed
from mqperf_routers.lab.settings import network_of
from mqperf_routers.lab.system import SYSTEM, router_program
from mqperf_routers.plan.topologies import named


def routers(name: str) -> list[Router]:
    """All routers of a network on this machine."""
    network = named(name)
    assert network is not None
    host_folders = [HostFolder(LocalHost(), Path("/nowhere"))] * len(network.nodes)
    reached = addresses(network, host_folders, range(5000, 5000 + ports_needed(network)))
    return [Router(network, router, host_folders[0], reached, 2, 100) for router in network.routers]


def test_a_standalone_router_listens_to_clients_only() -> None:
    """The configuration has an attribute per line, and the address of the router's host."""
    [router] = routers("standalone")
    assert router.configuration().splitlines() == [
        "router {",
        "    mode: standalone",
        "    id: R1",
        "    workerThreads: 2",
        "}",
        "listener {",
        "    role: normal",
        "    host: 127.0.0.1",
        "    port: 5000",
        "    authenticatePeer: no",
        "    saslMechanisms: ANONYMOUS",
        "    linkCapacity: 100",
        "}",
    ]


def entities(router: Router) -> list[str]:
    """The entities of a router's configuration, with their attributes on one line."""
    return [" ".join(entity.split()) for entity in router.configuration().split("}\n") if entity]


def test_a_line_has_one_connector_for_each_edge() -> None:
    """The later router connects to the earlier one, at its inter-router port."""
    first, second, third = map(entities, routers("line"))
    kinds = [[entity.split()[0] for entity in of_router] for of_router in (first, second, third)]
    assert kinds == [
        ["router", "listener", "listener"],
        ["router", "listener", "listener", "connector"],
        ["router", "listener", "connector"],
    ]
    assert "port: 5001 " in first[2]
    connector = "connector { name: to-R{} role: inter-router host: 127.0.0.1 port: {}"
    assert second[-1] == connector.replace("{}", "1", 1).replace("{}", "5001")
    assert "port: 5003 " in second[2]
    assert third[-1] == connector.replace("{}", "2", 1).replace("{}", "5003")


def test_what_routers_tell_of_the_others_is_checked() -> None:
    """The error names missing routers, wrong costs and wrong next hops."""
    network = named("redundant")
    assert network is not None
    rows: list[dict[str, Any]] = [
        {"id": "R1", "cost": None, "nextHop": "(self)"},
        {"id": "R2", "cost": 1, "nextHop": None},
        {"id": "R3", "cost": 2, "nextHop": "R2"},
        {"id": "R4", "cost": 2, "nextHop": None},
    ]
    assert misrouted(network, "R1", rows) is None
    assert misrouted(network, "R1", rows[:-1]) == "does not know R4"
    rows[2]["nextHop"] = "R4"
    assert misrouted(network, "R1", rows) == "reaches R3 by R4, not by R2"
    rows[2]["cost"] = 4
    assert misrouted(network, "R1", rows) == "reaches R3 at cost 4, not 2"


def test_a_plan_describes_a_network_of_its_own() -> None:
    """The topology requires the setting, which is checked with the plan."""
    graph: dict[str, Any] = {
        "nodes": [{"id": "a"}, {"id": "b"}],
        "edges": [{"source": "a", "target": "b"}],
    }
    assert SYSTEM.incompatible_settings("graph", {"graph": graph}) is None
    assert "needs the setting graph" in str(SYSTEM.incompatible_settings("graph", {}))
    network = network_of("graph", {"graph": graph})
    assert [node.id for node in network.nodes] == ["a", "b"]
    with pytest.raises(SystemFault, match="b has no path to a"):
        SYSTEM.check({"graph": {**graph, "edges": []}})
    assert SYSTEM.offers("ring-4")
    assert not SYSTEM.offers("ring-2")
    assert not SYSTEMS["rabbitmq"].offers("ring-4")


def test_each_topology_of_routers_is_a_deployment() -> None:
    """Topologies of other systems share a deployment."""
    cases = [
        Case.model_validate(
            {
                "system": system,
                "topology": topology,
                "queues": "routed",
                "test_case": "transfer",
                "green_threads": threads,
                "duration_s": 1,
            }
        )
        for system, topologies in (("qpid-dispatch", SYSTEM.topologies), ("rabbitmq", "ab"))
        for topology in topologies
        for threads in (1, 2)
    ]
    assert [len(block) for block in starts(cases)] == [2] * len(SYSTEM.topologies) + [4]
    assert [len(block) for block in deployments(cases, lambda _: False)] == [
        2 * len(SYSTEM.topologies),
        4,
    ]


def test_no_router_is_told_with_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The error is one line; a program named by the plan is reported as missing."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemFault) as fault:
        SYSTEMS["qpid-dispatch"].installed(LocalHost())
    assert str(fault.value).startswith(
        "an AMQP router is not installed: Debian and Ubuntu have no package; build"
    )
    assert "program: PATH" in str(fault.value)
    assert "\n" not in str(fault.value)
    with pytest.raises(SystemFault, match="program: there is no /no/router on"):
        router_program(LocalHost(), "/no/router")


def test_settings_are_checked() -> None:
    """An unknown key and an invalid number of threads are refused."""
    with pytest.raises(SystemFault, match="worker_threads"):
        SYSTEM.check({"worker_threads": 0})
    with pytest.raises(SystemFault, match="unknown key; did you mean"):
        SYSTEM.check({"thread": 1})

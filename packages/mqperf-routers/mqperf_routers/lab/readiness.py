"""The check that routers have found each other: each is asked, over AMQP."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mqperf.base.errors import SystemFault
from mqperf.hosts import Host
from mqperf.lab.systems.evidence import last_lines
from mqperf.lab.systems.private import Servers
from mqperf.lab.systems.service import Server
from mqperf_routers.lab import management
from mqperf_routers.plan.network import INTERIOR, Network
from mqperf_routers.plan.routes import next_hops

POLL_S = 0.1
LIMIT_S = 30
CONNECTED = "SUCCESS"
"""The status of a connector whose connection is open."""


def await_network(
    network: Network, running: Servers, servers: Sequence[Server], timeout_s: float
) -> None:
    """Return when every router has its connections and knows the shortest path to every other.

    Raise ``SystemFault`` for the first that does not in time, with the end of its log.  For one
    that ended, as when an inter-router port was taken, raise what ``Servers.start`` raises.
    """
    deadline = time.monotonic() + timeout_s
    for server in servers:
        while problem := lacking(network, server.label, server.host, server.name):
            running.check_starting()
            if time.monotonic() > deadline:
                raise SystemFault(
                    f"{server.label} {problem} after {timeout_s:g} s;"
                    f" {last_lines(server.host, server.log)}"
                )
            time.sleep(POLL_S)


def lacking(network: Network, name: str, host: Host, address: str) -> str | None:
    """Return what a router still lacks, or None; it is asked from a host, at its client address."""
    node = network[name]
    try:
        routers = entities(host, address, "router")
        if [router["id"] for router in routers] != [name]:
            return f"is not the router that answers at {address}"
        nodes = entities(host, address, "router.node") if node.role == INTERIOR else ()
        if problem := misrouted(network, name, nodes):
            return problem
        expected = [f"to-{whom.id}" for _, who, whom in network.connections() if who == node]
        connectors = entities(host, address, "connector") if expected else []
        return next(_unconnected(connectors, expected), None)
    except SystemFault as fault:
        return str(fault)


def misrouted(network: Network, origin: str, nodes: Sequence[Mapping[str, Any]]) -> str | None:
    """Return how a router's routes differ from the shortest paths, or None where they do not.

    ``nodes`` are the router's entities ``router.node``.
    """
    known = {node["id"]: node for node in nodes}
    for name, (cost, hops) in next_hops(network, origin).items():
        if name not in known:
            return f"does not know {name}"
        if known[name].get("cost") != cost:
            return f"reaches {name} at cost {known[name].get('cost')}, not {cost}"
        hop = known[name].get("nextHop") or name  # a neighbour has none
        if hop not in hops:
            return f"reaches {name} by {hop}, not by {' or '.join(sorted(hops))}"
    return None


def _unconnected(connectors: Sequence[Mapping[str, Any]], expected: Sequence[str]) -> Iterator[str]:
    """Yield a problem, with the connector's status, for each that has no connection."""
    by_name = {connector.get("name"): connector for connector in connectors}
    for name in expected:
        status = by_name.get(name, {}).get("connectionStatus")
        if status != CONNECTED:
            peer = name.removeprefix("to-")
            yield f"is not connected to {peer}: {status or 'no connector'}"


def entities(host: Host, address: str, kind: str) -> list[Mapping[str, Any]]:
    """Return the entities of a kind of the router at an address, asked from a host."""
    argv, env = management.query(host, address, f"org.apache.qpid.dispatch.{kind}")
    done = host.run(argv, env=env, timeout_s=LIMIT_S)
    if done.returncode:
        raise SystemFault(f"does not answer: {' '.join(done.stderr.split())[-300:]}")
    answer: list[Mapping[str, Any]] = json.loads(done.stdout)
    return answer

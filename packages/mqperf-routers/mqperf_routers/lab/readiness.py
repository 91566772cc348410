"""Whether routers have found each other: asked of each of them, over AMQP."""

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
"""What a connector says of itself once its connection is open."""


def await_network(
    network: Network, running: Servers, servers: Sequence[Server], timeout_s: float
) -> None:
    """Return when every router has its connections and knows every other, by the shortest way.

    Raises ``SystemFault`` for the first that does not in time, with the end of its log, and what
    ``Servers.start`` raises for one that ended, as for a port between routers that was taken.
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
    """What a router still lacks, asked from a host at its address for clients; None if nothing."""
    node = network[name]
    try:
        routers = entities(host, address, "router")
        if [router["id"] for router in routers] != [name]:
            return f"is not the router that answers at {address}"
        nodes = entities(host, address, "router.node") if node.role == INTERIOR else ()
        if problem := misrouted(network, name, nodes):
            return problem
        wanted = [f"to-{whom.id}" for _, who, whom in network.connections() if who == node]
        connectors = entities(host, address, "connector") if wanted else []
        return next(_unconnected(connectors, wanted), None)
    except SystemFault as fault:
        return str(fault)


def misrouted(network: Network, origin: str, nodes: Sequence[Mapping[str, Any]]) -> str | None:
    """In which way what a router tells of the others is not the shortest ways to them.

    ``nodes`` are its entities ``router.node``. None where it is right.
    """
    known = {node["id"]: node for node in nodes}
    for name, (cost, hops) in next_hops(network, origin).items():
        if name not in known:
            return f"does not know {name}"
        if known[name].get("cost") != cost:
            return f"reaches {name} at cost {known[name].get('cost')}, not {cost}"
        hop = known[name].get("nextHop") or name  # none is told for a neighbour
        if hop not in hops:
            return f"reaches {name} by {hop}, not by {' or '.join(sorted(hops))}"
    return None


def _unconnected(connectors: Sequence[Mapping[str, Any]], wanted: Sequence[str]) -> Iterator[str]:
    """Of each connector that has no connection, what it says."""
    by_name = {connector.get("name"): connector for connector in connectors}
    for name in wanted:
        status = by_name.get(name, {}).get("connectionStatus")
        if status != CONNECTED:
            peer = name.removeprefix("to-")
            yield f"is not connected to {peer}: {status or 'no connector'}"


def entities(host: Host, address: str, kind: str) -> list[Mapping[str, Any]]:
    """What the router at an address tells of its entities of a kind, asked from a host."""
    argv, env = management.query(host, address, f"org.apache.qpid.dispatch.{kind}")
    done = host.run(argv, env=env, timeout_s=LIMIT_S)
    if done.returncode:
        raise SystemFault(f"does not answer: {' '.join(done.stderr.split())[-300:]}")
    answer: list[Mapping[str, Any]] = json.loads(done.stdout)
    return answer

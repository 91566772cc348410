"""The check whether deployed routers are connected as the description of their network says."""

from collections.abc import Iterator, Sequence

from mqperf.front.findings import Finding
from mqperf.hosts import LocalHost
from mqperf_routers.front.places import Placed
from mqperf_routers.lab.configuration import CLIENTS
from mqperf_routers.lab.readiness import lacking


def check(networks: Sequence[Placed]) -> Iterator[Finding]:
    """Yield a finding for each router, asked from this machine at its address for clients."""
    for placed in networks:
        addresses = placed.addresses()
        for node in placed.network.routers:
            if (address := addresses.get((node.id, CLIENTS))) is None:
                yield Finding("optional", f"{node.id} accepts no clients: it cannot be queried")
                continue
            host, port = address
            problem = lacking(placed.network, node.id, LocalHost(), f"{host}:{port}")
            state = problem or "has its connections, and reaches every other by the shortest way"
            yield Finding("FAILED" if problem else "ok", f"{node.id} {state}")

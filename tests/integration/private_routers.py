"""Router networks that tests start."""

from collections.abc import Iterator
from contextlib import contextmanager

from mqperf.hosts import HostFolder, LocalHost
from mqperf.lab.systems import Deployment
from mqperf_routers.lab.system import SYSTEM

ROUTERS = ("qdrouterd", "skrouterd")


@contextmanager
def routers(topology: str, host: LocalHost | None = None) -> Iterator[Deployment]:
    """Start a router network for a single test."""
    host = host or LocalHost()
    with (
        host.scratch("test-routers") as folder,
        SYSTEM.started({}, topology, [HostFolder(host, folder)]) as deployment,
    ):
        yield deployment

"""The kind of host ``laboratory``: five hosts that are made for a command and end with it."""

from collections.abc import Iterator
from contextlib import contextmanager

from mqperf.hosts import HostKind, Hosts, of_inventory
from mqperf_laboratory.hosts.namespaces import laboratory

COUNT = 5
"""Three for brokers, one for clients, one for servers: as the test plan of 2016 wants them."""


@contextmanager
def _reached() -> Iterator[Hosts]:
    with (
        laboratory(COUNT) as made,
        of_inventory(made.inventory, programs=False).reached() as hosts,
    ):
        yield hosts


KIND = HostKind("laboratory", f"{COUNT} hosts in namespaces of this machine", _reached, here=True)

"""The hosts of an inventory as one kind of hosts."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from mqperf.hosts import inventory
from mqperf.hosts.host import HostKind
from mqperf.hosts.remote import connected
from mqperf.hosts.roles import Hosts


def of_inventory(path: Path, *, programs: bool) -> HostKind:
    """Return the kind for the hosts of an inventory, reached over SSH.

    With ``programs`` the inventory may be a program.
    """
    read = partial(inventory.read, path, programs=programs)
    return HostKind(
        str(path), f"the hosts of {path}", lambda: _connected(read()), lambda: len(read().client)
    )


@contextmanager
def _connected(listed: inventory.Inventory) -> Iterator[Hosts]:
    """Connect to all hosts; raises ``HostError`` with a line for each problem."""
    with connected(listed.places) as hosts:
        by_name = {host.name: host for host in hosts}
        roles = (listed.broker, listed.client, listed.server)
        broker, client, server = (tuple(by_name[place.name] for place in each) for each in roles)
        yield Hosts(broker, client, server)

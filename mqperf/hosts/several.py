"""Several hosts at once: those of an inventory."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from mqperf.hosts import inventory
from mqperf.hosts.host import HostKind
from mqperf.hosts.remote import connected
from mqperf.hosts.roles import Hosts


def of_inventory(path: Path, *, programs: bool) -> HostKind:
    """The hosts that an inventory names, reached over SSH.

    With ``programs`` it may be a program.
    """
    listed = partial(inventory.read, path, programs=programs)
    return HostKind(
        str(path), f"the hosts of {path}", lambda: _reached(listed()), lambda: len(listed().client)
    )


@contextmanager
def _reached(listed: inventory.Inventory) -> Iterator[Hosts]:
    """Connect to all; raises ``HostError`` with a line for each problem."""
    with connected(listed.places) as hosts:
        by_name = {host.name: host for host in hosts}
        roles = (listed.broker, listed.client, listed.server)
        broker, client, server = (tuple(by_name[place.name] for place in each) for each in roles)
        yield Hosts(broker, client, server)

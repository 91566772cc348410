"""Several hosts at once: those of an inventory, or a laboratory on this machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from mqperf.hosts import inventory
from mqperf.hosts.host import HostKind
from mqperf.hosts.laboratory import laboratory
from mqperf.hosts.remote import connected
from mqperf.hosts.roles import Hosts

LABORATORY_HOSTS = 5
"""Three for brokers, one for clients, one for servers: as the test plan of 2016 wants them."""


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
        yield Hosts(*(tuple(by_name[place.name] for place in places) for places in roles))


@contextmanager
def _in_laboratory() -> Iterator[Hosts]:
    with laboratory(LABORATORY_HOSTS) as made, _reached(inventory.read(made.inventory)) as hosts:
        yield hosts


LABORATORY = HostKind(
    "laboratory",
    f"{LABORATORY_HOSTS} hosts in namespaces of this machine",
    _in_laboratory,
    here=True,
)

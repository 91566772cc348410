"""Kinds of hosts that are made for a command and end with it: five, or those of two sites."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from mqperf.hosts import HostKind, Hosts, of_inventory
from mqperf_laboratory.hosts.configuration import USUAL, Roles
from mqperf_laboratory.hosts.namespaces import laboratory

SITES: Roles = (("client", "broker"), ("broker", "server"))
"""Roles of two hosts, one per site, each with a broker; clients are in the first site."""


@contextmanager
def _reached(roles: Roles) -> Iterator[Hosts]:
    with (
        laboratory(len(roles), roles) as made,
        of_inventory(made.inventory, programs=False).reached() as hosts,
    ):
        yield hosts


def _kind(name: str, roles: Roles) -> HostKind:
    about = f"{len(roles)} hosts in namespaces of this machine"
    return HostKind(name, about, partial(_reached, roles), here=True)


KIND, KIND_OF_SITES = _kind("laboratory", USUAL), _kind("sites", SITES)

"""Hosts: machines that provide processes, scratch folders and free ports.

Everything that a host provides ends with mqperf: the kernel kills its processes when mqperf dies,
a reaper removes scratch folders, and the kernel releases the names that reserve ports.
"""

from pathlib import Path

from mqperf.base.errors import HostError
from mqperf.base.problems import nearest
from mqperf.base.registry import Registry
from mqperf.hosts.clock import Offset
from mqperf.hosts.common_ports import common_ports
from mqperf.hosts.host import Host, HostKind, Output
from mqperf.hosts.host_folder import HostFolder
from mqperf.hosts.interfaces import interface_of
from mqperf.hosts.local import KIND, LocalHost
from mqperf.hosts.process import Process, Restartable, Watched, stop_all
from mqperf.hosts.roles import Hosts
from mqperf.hosts.several import of_inventory

__all__ = [
    "HERE",
    "HOSTS",
    "Host",
    "HostFolder",
    "HostKind",
    "Hosts",
    "LocalHost",
    "Offset",
    "Output",
    "Process",
    "Restartable",
    "Watched",
    "common_ports",
    "interface_of",
    "lookup",
    "of_inventory",
    "stop_all",
]

HOSTS = Registry("hosts", (KIND,))
"""The kinds of host."""

HERE = KIND.name
"""The kind of host that plans run on by default."""


def lookup(of_plan: str | None, asked: str | None = None) -> HostKind:
    """Return the kind of hosts, or an inventory's hosts: ``asked`` by the user, else ``of_plan``.

    Only a user may name an inventory that is a program; a plan's inventory is only data.  Raises
    ``HostError`` naming the package that has the kind, the nearest known kind, or all kinds.
    """
    name = of_plan or HERE if asked is None else asked
    if name in HOSTS:
        return HOSTS[name]
    if Path(name).exists():
        return of_inventory(Path(name), programs=asked is not None)
    raise HostError(
        f"hosts {name!r}: there is no such inventory, and no such kind; {nearest(name, [*HOSTS])}"
    )

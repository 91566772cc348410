"""Hosts: where processes run, folders vanish and ports are free.

Everything that a host gives ends with us: processes are killed by the kernel when mqperf dies,
scratch folders are removed by a reaper, ports are reserved by names that the kernel gives back.
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
"""The kind that every plan runs on unless another is asked for."""


def lookup(of_plan: str | None, asked: str | None = None) -> HostKind:
    """The kind of hosts, or those of an inventory: what a user asked for, else what a plan says.

    Only a user may name an inventory that is a program; that of a plan is data.  Raises
    ``HostError`` with the package that brings the kind, the nearest known one, or all of them.
    """
    name = of_plan or HERE if asked is None else asked
    if name in HOSTS:
        return HOSTS[name]
    if Path(name).exists():
        return of_inventory(Path(name), programs=asked is not None)
    raise HostError(
        f"hosts {name!r}: there is no such inventory, and no such kind; {nearest(name, [*HOSTS])}"
    )

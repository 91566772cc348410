"""Hosts: where processes run, folders vanish and ports are free.

Everything that a host gives ends with us: processes are killed by the kernel when mqperf dies,
scratch folders are removed by a reaper, ports are reserved by names that the kernel gives back.
"""

from mqperf.guarded import ForeignProcess, Process, stop_all
from mqperf.hosts.facts import host_facts
from mqperf.hosts.host import Host
from mqperf.hosts.local import LocalHost
from mqperf.hosts.network import interface_of

__all__ = [
    "ForeignProcess",
    "Host",
    "LocalHost",
    "Process",
    "host_facts",
    "interface_of",
    "stop_all",
]

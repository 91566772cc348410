"""Python packages for programs that run beside a broker: made here, taken to wherever they run.

A host needs nothing but a Python.  What runs there is locked by hash, built on this machine for the
host's Python, processor and C library, kept in the user's cache, and copied to the host.
"""

from mqperf.hosts.software.machine import ALONE, Machine, plain_variables
from mqperf.hosts.software.modules import path_of, programs, sources
from mqperf.hosts.software.packages import packages, versions
from mqperf.hosts.software.roots import Root
from mqperf.onhost.machine.platforms import Platform, here

__all__ = [
    "ALONE",
    "Machine",
    "Platform",
    "Root",
    "here",
    "packages",
    "path_of",
    "plain_variables",
    "programs",
    "sources",
    "versions",
]

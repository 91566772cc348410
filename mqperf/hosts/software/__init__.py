"""Python packages for programs on hosts: built on this machine and copied to each host.

A host needs only a Python.  Packages are pinned by hash, built on this machine for the host's
Python, processor and C library, kept in the user's cache, and copied to the host.
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

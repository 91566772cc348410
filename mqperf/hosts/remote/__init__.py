"""Hosts that are reached over SSH: control, files and clocks, without anything installed there."""

from mqperf.hosts.remote.connection import attempted, connected
from mqperf.hosts.remote.host import RemoteHost

__all__ = ["RemoteHost", "attempted", "connected"]

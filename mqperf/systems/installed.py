"""What is installed on a host, and how to get what is not."""

from mqperf.errors import SystemFault
from mqperf.hosts import HERE, Host


def missing(what: str, install: str, host: Host) -> SystemFault:
    """The fault of a program that is not there; ``install`` is the command that gets it."""
    if host.name == HERE:
        return SystemFault(f"{what} is not installed: {install}")
    return SystemFault(
        f"{what} is not installed on {host.name}: {install}, there; or let"
        " mqperf hosts prepare do it"
    )

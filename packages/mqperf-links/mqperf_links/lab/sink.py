"""Dropping, for a while, the packets of a host to some other hosts.

A device with routes takes them; it belongs to a program on the host and vanishes when the program
ends, for any reason.  Nothing comes back on a connection whose packets do not arrive, so both sides
are cut off from each other.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from mqperf.hosts import Host
from mqperf_links.lab import programs
from mqperf_links.lab.programs import LIMIT_S
from mqperf_links.lab.routes import lead

DEVICE = "mqsink"
LACKING = (
    "test -c /dev/net/tun || echo it needs /dev/net/tun: modprobe tun",
    "command -v ip > /dev/null || echo it needs ip: apt-get install iproute2",
)


def obstacle(host: Host) -> str | None:
    """Return why a host cannot have a sink; None if it can."""
    return programs.obstacle(host, *LACKING)


@dataclass(frozen=True, slots=True)
class Sink:
    """A device on a host that takes packets and drops them."""

    host: Host

    def swallow(self, others: Sequence[Host]) -> None:
        """Drop the host's packets to the others; raise ``HostError`` if that is refused."""
        lead(self.host, DEVICE, others)

    def restore(self) -> None:
        """Let packets through again."""
        self.host.run(["ip", "link", "set", DEVICE, "down"], timeout_s=LIMIT_S)


@contextmanager
def made(host: Host) -> Iterator[Sink]:
    """Create a sink on a host; raise ``HostError`` if that is refused."""
    fault = "no device can be made that takes packets"
    with programs.running(host, "packet_relay.sink", [DEVICE], fault):
        yield Sink(host)

"""A host whose packets to some other hosts vanish for a while.

A device and routes of a program on it take them; they are gone when the program has ended, however
that came.  Nothing comes back on a connection whose packets do not arrive, so that both sides are
cut off from each other.
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
    """What is in its way on a host."""
    return programs.obstacle(host, *LACKING)


@dataclass(frozen=True, slots=True)
class Sink:
    """A device on a host that takes packets, and nobody reads them."""

    host: Host

    def swallow(self, others: Sequence[Host]) -> None:
        """Let no packet of the host get to the others; raises ``HostError`` when refused."""
        lead(self.host, DEVICE, others)

    def restore(self) -> None:
        """Let them get there again."""
        self.host.run(["ip", "link", "set", DEVICE, "down"], timeout_s=LIMIT_S)


@contextmanager
def made(host: Host) -> Iterator[Sink]:
    """Make one on a host; raises ``HostError`` when that is refused."""
    fault = "no device can be made that takes packets"
    with programs.running(host, "packet_relay.sink", [DEVICE], fault):
        yield Sink(host)

"""A host whose packets to some other hosts vanish for a while.

A device and routes of a program on it take them; they are gone when the program has ended, however
that came.  Nothing comes back on a connection whose packets do not arrive, so that both sides are
cut off from each other.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mqperf.base.errors import HostError
from mqperf.base.one_line import one_line
from mqperf.hosts import Host, Process
from mqperf.hosts.software import programs
from mqperf_links.lab.routes import lead

PACKAGE = "mqperf_links"
DEVICE = "mqsink"
LIMIT_S = 15.0
END_GRACE_S = 5.0
LACKING = (
    "test $(id -u) = 0 || echo it needs root, who alone may make network devices;"
    " test -c /dev/net/tun || echo it needs /dev/net/tun: modprobe tun;"
    " command -v ip > /dev/null || echo it needs ip: apt-get install iproute2"
)


def obstacle(host: Host) -> str | None:
    """What is in its way on a host."""
    done = host.run(["sh", "-c", LACKING], timeout_s=LIMIT_S)
    return one_line(done.stdout + done.stderr) or None


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
    inside = host.copied(programs(PACKAGE))
    with host.scratch("sink") as folder:
        log = folder / "log"
        argv = [host.python, "-SB", "-m", f"{PACKAGE}.onhost.packet_relay.sink", DEVICE]
        env = {"PYTHONPATH": str(inside), "PATH": host.path}
        process = host.start("packet sink", argv, env=env, log=log)
        try:
            _await(host, process, log)
            yield Sink(host)
        finally:
            process.stop(END_GRACE_S)


def _await(host: Host, process: Process, log: Path) -> None:
    limit = time.monotonic() + LIMIT_S
    while not (answer := host.read(log).decode(errors="replace").strip()).startswith("ready"):
        if not process.alive or time.monotonic() > limit:
            reason = one_line(answer) or "it does not say why"
            raise HostError(f"{host.name}: no device can be made that takes packets: {reason}")
        time.sleep(0.01)

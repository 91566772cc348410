"""Routes of a host through a network device of ours; they vanish with the device."""

from collections.abc import Iterable

from mqperf.base.errors import HostError
from mqperf.hosts import Host

QUEUE = 10_000
"""Packets that a device queues until they are read: more than any connection sends at once."""

LIMIT_S = 30.0


def lead(host: Host, device: str, others: Iterable[Host]) -> None:
    """Route packets for other hosts to the device; raise ``HostError`` if that is refused."""
    lines = [f"ip link set {device} txqueuelen {QUEUE} up"]
    lines += [
        f"ip route add {other.address}/32 dev {device} src {host.address}" for other in others
    ]
    done = host.run(["sh", "-c", " && ".join(lines)], timeout_s=LIMIT_S)
    if done.returncode:
        raise HostError(f"{host.name}: no route can be made to {device}: {done.stderr.strip()}")

"""Ports that are free on several hosts: a cluster uses the same port numbers on each host."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from mqperf.base.errors import HostError, HostLost
from mqperf.hosts.host import Host

ATTEMPTS = 20


@contextmanager
def common_ports(hosts: Sequence[Host], count: int) -> Iterator[tuple[int, ...]]:
    """Reserve ``count`` consecutive ports that are free on all of the hosts.

    Raises ``HostError`` when none are found in ``ATTEMPTS`` attempts.
    """
    first, *others = {host.name: host for host in hosts}.values()
    with ExitStack() as reservations:
        for attempt in range(1, ATTEMPTS + 1):
            block = reservations.enter_context(first.ports(count))
            try:
                for other in others:
                    reservations.enter_context(other.ports(count, block[0]))
                break
            except HostLost:
                raise
            except HostError:
                reservations.close()
                if attempt == ATTEMPTS:
                    raise
        yield block

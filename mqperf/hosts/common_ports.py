"""Ports that are free on several hosts: servers of one cluster have the same on each."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from mqperf.base.errors import HostError, HostLost
from mqperf.hosts.host import Host

ATTEMPTS = 20


@contextmanager
def common_ports(hosts: Sequence[Host], count: int) -> Iterator[tuple[int, ...]]:
    """Reserve consecutive ports which are free on each of these hosts.

    Raises ``HostError`` when there are none.
    """
    first, *others = {host.name: host for host in hosts}.values()
    with ExitStack() as held:
        for attempt in range(1, ATTEMPTS + 1):
            block = held.enter_context(first.ports(count))
            try:
                for other in others:
                    held.enter_context(other.ports(count, block[0]))
                break
            except HostLost:
                raise
            except HostError:
                held.close()
                if attempt == ATTEMPTS:
                    raise
        yield block

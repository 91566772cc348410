"""Waits for sockets, to the microsecond, and for the back-off before connecting again."""

import select
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

from mqperf_numbered.onhost.outbox import Outbox

FIRST_S, LONGEST_S = 0.1, 2.0

T = TypeVar("T")


class Waiting:
    """Polled sockets: timeouts are exact to the microsecond if ``exact``, else to the millisecond.

    Epoll has timeouts in milliseconds; ``select`` has microseconds, but no descriptors above 1023.
    So ``select`` waits for the epoll descriptor itself, at the price of a second call.
    """

    def __init__(self, *, exact: bool) -> None:
        self.exact = exact
        self.poll = select.epoll()
        self.masks: dict[int, int] = {}

    def watch(self, connection: Outbox, *, to_write: bool) -> None:
        """Poll a connection for reading, and for writing, too, if asked for."""
        mask = select.EPOLLIN | (select.EPOLLOUT if to_write else 0)
        descriptor = connection.fileno()
        if descriptor not in self.masks:
            self.poll.register(descriptor, mask)
        elif self.masks[descriptor] != mask:
            self.poll.modify(descriptor, mask)
        self.masks[descriptor] = mask

    def forget(self, connection: Outbox) -> None:
        """Stop polling a connection, before it is closed."""
        if self.masks.pop(connection.fileno(), None) is not None:
            self.poll.unregister(connection.fileno())

    def ready(self, timeout_s: float) -> list[tuple[int, int]]:
        """Return descriptors and their events as soon as there are any; none after the timeout."""
        if not self.exact:
            return self.poll.poll(timeout_s)
        if timeout_s > 0:
            select.select([self.poll.fileno()], [], [], timeout_s)
        return self.poll.poll(0)


class BackOff:
    """Exponential back-off of attempts to connect again."""

    def __init__(self) -> None:
        self.pause_s = FIRST_S
        self.until = time.monotonic() + FIRST_S

    @property
    def over(self) -> bool:
        """Whether it is time for an attempt."""
        return time.monotonic() >= self.until

    def failed(self) -> None:
        """Double the pause, up to ``LONGEST_S``."""
        self.pause_s = min(2 * self.pause_s, LONGEST_S)
        self.until = time.monotonic() + self.pause_s


def shares(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Split items into slices of ``size``, such as the threads of each connection."""
    return (items[first : first + size] for first in range(0, len(items), size))

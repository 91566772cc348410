"""Waiting for sockets, to the microsecond, and the back-off before connecting again."""

import select
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

from mqperf_numbered.onhost.outbox import Outbox

FIRST_S, LONGEST_S = 0.1, 2.0

T = TypeVar("T")


class Waiting:
    """Sockets that are waited for: to the microsecond if ``exact``, else to the millisecond.

    Epoll counts milliseconds, ``select`` microseconds but no descriptor above 1023: so ``select``
    waits for the epoll itself, at the price of a second call.
    """

    def __init__(self, *, exact: bool) -> None:
        self.exact = exact
        self.poll = select.epoll()
        self.known: dict[int, int] = {}

    def watch(self, of: Outbox, *, to_write: bool) -> None:
        """Wait until it can be read, or written, too."""
        wanted = select.EPOLLIN | (select.EPOLLOUT if to_write else 0)
        number = of.fileno()
        if number not in self.known:
            self.poll.register(number, wanted)
        elif self.known[number] != wanted:
            self.poll.modify(number, wanted)
        self.known[number] = wanted

    def forget(self, of: Outbox) -> None:
        """Before it is closed."""
        if self.known.pop(of.fileno(), None) is not None:
            self.poll.unregister(of.fileno())

    def ready(self, timeout_s: float) -> list[tuple[int, int]]:
        """Descriptors and their events, as soon as there are any."""
        if not self.exact:
            return self.poll.poll(timeout_s)
        if timeout_s > 0:
            select.select([self.poll.fileno()], [], [], timeout_s)
        return self.poll.poll(0)


class BackOff:
    """When to connect again: soon at first, then less and less often."""

    def __init__(self) -> None:
        self.pause_s = FIRST_S
        self.until = time.monotonic() + FIRST_S

    @property
    def over(self) -> bool:
        """Whether it is time."""
        return time.monotonic() >= self.until

    def failed(self) -> None:
        """Wait twice as long next time."""
        self.pause_s = min(2 * self.pause_s, LONGEST_S)
        self.until = time.monotonic() + self.pause_s


def shares(every: Sequence[T], of_each: int) -> Iterator[Sequence[T]]:
    """So many at a time, by connection."""
    return (every[first : first + of_each] for first in range(0, len(every), of_each))

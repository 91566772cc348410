"""The bytes that come from the other end of a connection, and when each part of them was read."""

import time
from bisect import bisect_right
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mqperf_numbered.onhost.managed_connections import Broker, Lost, Refused
from mqperf_numbered.onhost.outbox import WAITING, Outbox, connected, taken

HEARTBEAT_S = 20
"""Which interval of heartbeats is asked for, where a plan asks for none."""

LEAST_S = 0.1
"""Of time for a farewell: without any, a socket waits for nothing."""


class Inbox(Outbox):
    """Both halves of a connection.  What has come is in ``buffer`` up to ``have``.

    When each part of it was read is kept until it is forgotten, so that bytes may be taken in at
    once and understood later.  ``heartbeat`` is a frame that says no more than that this end is
    there; there is one in ``heartbeat_s``, none for 0.  One that is ``answered`` is sent where
    nothing came, any other one where nothing was sent.
    """

    heartbeat: bytes
    heartbeat_s: int
    answered = False

    def __init__(
        self,
        broker: Broker,
        size: int,
        log_in: Callable[[], None],
        take_leave: Callable[[], object],
    ) -> None:
        """Connect and log in, with an empty buffer of that size.

        ``take_leave`` returns when the other end has read all that was sent.  Raises ``Refused``,
        or ``Lost`` when no address answers.
        """
        super().__init__()
        self.broker, self.farewell = broker, take_leave
        self.leaves_at: float | None = None
        self.incoming(size)
        self.last_in = time.monotonic()
        self.socket, self.address = connected(broker.addresses, broker.authority)
        try:
            log_in()
        except BaseException:
            self.socket.close()
            raise

    def close(self, timeout_s: float) -> bool:
        """Say goodbye; whether the other end has read all that was sent.

        One that blocks us does not read, and goes on with its heartbeats.
        """
        timeout_s = max(timeout_s, LEAST_S)
        self.leaves_at = time.monotonic() + timeout_s
        try:
            self.socket.settimeout(timeout_s)
            self.farewell()
        except (Lost, Refused):
            return False
        finally:
            self.socket.close()
        return True

    def incoming(self, size: int) -> None:
        """Begin with an empty buffer of that size."""
        self.buffer = bytearray(size)
        self.view = memoryview(self.buffer)
        self.have = 0
        self.ends: list[int] = []
        self.read_ns: list[int] = []

    def fill(self) -> bool:
        """Take in what has come; False when there was nothing.  Raises ``Lost`` at the end."""
        return taken(self.socket, self._take)

    def await_more(self) -> None:
        """Take in what comes next; raises ``Lost`` with the address."""
        try:
            self.fill()
        except Lost as error:
            raise Lost(f"{self.address}: {error}") from None

    def keep_alive(self) -> None:
        """Send a heartbeat if it is time; raises ``Lost`` when the broker's are missing."""
        if not self.heartbeat_s:
            return
        now = time.monotonic()
        if now - self.last_in > 2 * self.heartbeat_s + 1:
            raise Lost(f"nothing came from the broker for {now - self.last_in:.0f} s")
        last = self.last_in if self.answered else self.last_out
        if now - last > self.heartbeat_s / 2 and self.drained:
            self.send(self.heartbeat)

    def _take(self) -> bool:
        if self.have == len(self.buffer):
            self._grow()
        if self.leaves_at is not None:
            if (left_s := self.leaves_at - time.monotonic()) <= 0:
                raise Lost("the broker did not take leave in time")
            self.socket.settimeout(left_s)
        try:
            count = self.socket.recv_into(self.view[self.have :])
        except WAITING:
            return False
        except OSError as error:
            raise Lost(error.strerror or str(error)) from None
        if not count:
            raise Lost("the broker closed the connection")
        self.have += count
        self.last_in = time.monotonic()
        self.read_ns.append(time.time_ns())
        self.ends.append(self.have)
        return True

    def arrived_ns(self, ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """When what ends there in the buffer had been read; ends are in order."""
        if len(self.ends) == 1:
            return np.full(len(ends), self.read_ns[0])
        instants: NDArray[np.int64] = np.array(self.read_ns)[np.searchsorted(self.ends, ends)]
        return instants

    def consumed(self, until: int) -> None:
        """Forget what was understood."""
        if not until:
            return
        left = self.have - until
        if left:
            self.buffer[:left] = self.buffer[until : self.have]
        self.have = left
        first = bisect_right(self.ends, until)
        self.ends = [end - until for end in self.ends[first:]]
        self.read_ns = self.read_ns[first:]

    def _grow(self) -> None:
        old = self.buffer
        self.buffer = old + bytes(len(old))
        self.view = memoryview(self.buffer)

    def finish_sending(self) -> None:
        """Wait until everything is handed over; raises ``Lost`` when it cannot be."""
        while not self.drained:
            before = self.sent
            self.flush()
            if self.sent == before:
                raise Lost("the broker takes no more bytes")

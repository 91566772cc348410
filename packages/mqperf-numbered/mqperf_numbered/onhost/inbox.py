"""The bytes that come from the other end of a connection, and when each part of them was read."""

import math
import time
from abc import ABC, abstractmethod
from bisect import bisect_right
from typing import TYPE_CHECKING

from mqperf_numbered.onhost.broker import Broker, Lost, Refused
from mqperf_numbered.onhost.outbox import WAITING, Outbox, connected, taken

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

HEARTBEAT_S = 20
"""Which interval of heartbeats is asked for, where a plan asks for none."""

LEAST_S = 0.1
"""Of time for a farewell: without any, a socket waits for nothing."""


class Inbox(Outbox, ABC):
    """Both halves of a connection.  What has come is in ``buffer`` up to ``have``.

    When each part of it was read is kept until it is forgotten, so that bytes may be taken in at
    once and understood later.  ``heartbeat`` is a frame that says no more than that this end is
    there; there is one in ``heartbeat_s``, none for 0.  One that is ``answered`` is sent where
    nothing came, any other one where nothing was sent.
    """

    heartbeat: bytes
    heartbeat_s: float
    answered = False

    def __init__(self, broker: Broker, size: int) -> None:
        """Connect and log in, with an empty buffer of that size.

        Raises ``Refused``, or ``Lost`` when no address answers.
        """
        super().__init__()
        self.broker = broker
        self.leaves_at: float | None = None
        self.empty(size)
        self.last_in = time.monotonic()
        self.socket, self.address = connected(broker.addresses, broker.authority)
        try:
            self.log_in()
        except BaseException:
            self.socket.close()
            raise

    @abstractmethod
    def log_in(self) -> None:
        """Return when the broker knows us."""

    @abstractmethod
    def take_leave(self) -> None:
        """Return when the other end has read all that was sent."""

    @property
    def patience_s(self) -> float:
        """For so long nothing may come."""
        return 2 * self.heartbeat_s + 1 if self.heartbeat_s else math.inf

    def close(self, timeout_s: float) -> bool:
        """Say goodbye; whether the other end has read all that was sent.

        One that blocks us does not read, and goes on with its heartbeats.
        """
        timeout_s = max(timeout_s, LEAST_S)
        self.leaves_at = time.monotonic() + timeout_s
        try:
            self.socket.settimeout(timeout_s)
            self.take_leave()
        except (Lost, Refused):
            return False
        finally:
            self.socket.close()
        return True

    def empty(self, size: int) -> None:
        """Begin with an empty buffer of that size."""
        self.buffer = bytearray(size)
        self.view = memoryview(self.buffer)
        self.have = 0
        self.ends: list[int] = []
        self.read_ns: list[int] = []

    def fill(self) -> bool:
        """Take in what has come; False when there was nothing.  Raises ``Lost`` at the end."""
        return taken(self.socket, self._take)

    def keep_alive(self) -> None:
        """Send a heartbeat if it is time; raises ``Lost`` when the broker's are missing."""
        now = time.monotonic()
        if now - self.last_in > self.patience_s:
            raise self.lost(f"nothing came from the broker for {now - self.last_in:.0f} s")
        last = self.last_in if self.answered else self.last_out
        if self.heartbeat_s and now - last > self.heartbeat_s / 2 and self.drained:
            self.send(self.heartbeat)

    def _take(self) -> bool:
        if self.have == len(self.buffer):
            self._grow()
        if self.leaves_at is not None:
            if (left_s := self.leaves_at - time.monotonic()) <= 0:
                raise self.lost("the broker did not take leave in time")
            self.socket.settimeout(left_s)
        try:
            count = self.socket.recv_into(self.view[self.have :])
        except WAITING:
            return False
        except OSError as error:
            raise self.lost(error.strerror or str(error)) from None
        if not count:
            raise self.lost("the broker closed the connection")
        self.have += count
        self.last_in = time.monotonic()
        self.read_ns.append(time.time_ns())
        self.ends.append(self.have)
        return True

    def arrived_ns(self, ends: "NDArray[np.int64]") -> "NDArray[np.int64]":
        """When what ends there in the buffer had been read; ends are in order."""
        import numpy as np  # probes that only ask have no use for it

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
                raise self.lost("the broker takes no more bytes")

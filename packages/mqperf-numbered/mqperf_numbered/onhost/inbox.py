"""The receiving half of a connection: received bytes, and when each chunk of them was read."""

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
"""The interval of heartbeats that is requested if a plan has none."""

LEAST_S = 0.1
"""The shortest timeout for closing a connection: with 0, a socket would not block."""


class Inbox(Outbox, ABC):
    """Both halves of a connection.  Received bytes are in ``buffer`` up to ``have``.

    The read time of each chunk is kept until ``consumed``, so that bytes may be received at once
    and parsed later.  ``heartbeat`` is a frame without content, sent within ``heartbeat_s`` (never
    if 0): for protocols whose heartbeats are ``answered`` if nothing was received meanwhile, else
    if nothing was sent.
    """

    heartbeat: bytes
    heartbeat_s: float
    answered = False

    def __init__(self, broker: Broker, size: int) -> None:
        """Connect and log in, with an empty buffer of ``size`` bytes.

        Raises ``Refused``, or ``Lost`` if no address answers.
        """
        super().__init__()
        self.broker = broker
        self.closes_at: float | None = None
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
        """Log in; return when the broker has accepted the connection."""

    @abstractmethod
    def take_leave(self) -> None:
        """Close the connection by protocol; return when the broker has read all that was sent."""

    @property
    def patience_s(self) -> float:
        """The longest time without received bytes."""
        return 2 * self.heartbeat_s + 1 if self.heartbeat_s else math.inf

    def close(self, timeout_s: float) -> bool:
        """Close the connection; return whether the other end has read all that was sent.

        A broker that blocks publishers does not read, although it goes on sending heartbeats.
        """
        timeout_s = max(timeout_s, LEAST_S)
        self.closes_at = time.monotonic() + timeout_s
        try:
            self.socket.settimeout(timeout_s)
            self.take_leave()
        except (Lost, Refused):
            return False
        finally:
            self.socket.close()
        return True

    def empty(self, size: int) -> None:
        """Replace the buffer by an empty one of ``size`` bytes."""
        self.buffer = bytearray(size)
        self.view = memoryview(self.buffer)
        self.have = 0
        self.ends: list[int] = []
        self.read_ns: list[int] = []

    def fill(self) -> bool:
        """Receive what has come; return whether there was any.  Raises ``Lost`` at the end."""
        return taken(self.socket, self._take)

    def keep_alive(self) -> None:
        """Send a heartbeat if one is due; raises ``Lost`` if the broker's are missing."""
        now = time.monotonic()
        if now - self.last_in > self.patience_s:
            raise self.lost(f"nothing arrived from the broker for {now - self.last_in:.0f} s")
        last = self.last_in if self.answered else self.last_out
        if self.heartbeat_s and now - last > self.heartbeat_s / 2 and self.drained:
            self.send(self.heartbeat)

    def _take(self) -> bool:
        if self.have == len(self.buffer):
            self._grow()
        if self.closes_at is not None:
            if (left_s := self.closes_at - time.monotonic()) <= 0:
                raise self.lost("the broker did not confirm the close in time")
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
        """Return when the bytes before each of ``ends`` had been read; ``ends`` are in order."""
        import numpy as np  # probes, which only send requests, do without it

        if len(self.ends) == 1:
            return np.full(len(ends), self.read_ns[0])
        instants: NDArray[np.int64] = np.array(self.read_ns)[np.searchsorted(self.ends, ends)]
        return instants

    def consumed(self, until: int) -> None:
        """Discard the bytes before ``until``, which were parsed."""
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
        """Send all queued bytes, blocking; raises ``Lost`` if the socket takes no more."""
        while not self.drained:
            before = self.sent
            self.flush()
            if self.sent == before:
                raise self.lost("the broker accepts no more bytes")

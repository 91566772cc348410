"""A publishing thread of a super stream; messages of each partition are numbered from 0."""

import numpy as np

from mqperf_numbered.onhost.outbox import Outbox
from mqperf_numbered.onhost.publisher_thread import PublisherThread
from mqperf_numbered.onhost.record import Numbers, Record
from mqperf_streams.onhost.frames import Frames
from mqperf_streams.onhost.orders import Orders


class PartitionedThread(PublisherThread):
    """A publishing thread, whose numbers count over all partitions, and are publishing ids.

    Partitions confirm independently: ``open`` marks which of the last ``window`` messages are
    unconfirmed, and ``oldest`` is the first of these.
    """

    def __init__(self, orders: Orders, number: int, record: Record, frames: Frames) -> None:
        super().__init__(orders, number, orders.confirms, record, frames)
        self.routes, self.first_sender = frames.routes, number * orders.partitions
        self.open, self.oldest = np.zeros(self.window, dtype=bool), 0

    @property
    def pending(self) -> int:
        """Messages from the oldest unconfirmed one on; later ones may be confirmed."""
        return self.next - self.oldest

    def identity(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """Return the partitions of messages, as their senders, and numbers within these."""
        partition, within = self.routes.numbered(numbers)
        return self.first_sender + partition, within

    def attach(self, connection: Outbox) -> None:
        """Send on this connection from now on; earlier unconfirmed messages stay unconfirmed."""
        super().attach(connection)
        self.open[:], self.oldest = False, self.next

    def sendable(self, now_ns: int) -> int:
        """Return how many messages of one partition may be sent now, in one block."""
        _, left = self.routes.run(self.next)
        return min(super().sendable(now_ns), left)

    def send(self, count: int) -> None:
        """Send a block of ``count`` messages."""
        self.open.put(np.arange(self.next, self.next + count), True, mode="wrap")  # noqa: FBT003
        super().send(count)

    def ended(self, stream: str, numbers: Numbers, now_ns: int) -> None:
        """Record that a partition has ``confirmed`` these messages, or refused them (``error``)."""
        super().ended(stream, numbers, now_ns)
        self.open.put(numbers, False, mode="wrap")  # noqa: FBT003
        sent = np.arange(self.oldest, self.next)
        waiting = np.flatnonzero(self.open.take(sent, mode="wrap"))
        self.oldest = int(sent[waiting[0]]) if len(waiting) else self.next

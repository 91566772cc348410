"""A publishing thread of a super stream, of which each partition has messages numbered from 0."""

import numpy as np

from mqperf_numbered.onhost.outbox import Outbox
from mqperf_numbered.onhost.publisher_thread import PublisherThread
from mqperf_numbered.onhost.record import Numbers, Record
from mqperf_streams.onhost.frames import Frames
from mqperf_streams.onhost.orders import Orders


class PartitionedThread(PublisherThread):
    """One thread.  Its own numbers count over all partitions, and are publishing ids.

    Partitions confirm apart, so that ``open`` tells of the last ``window`` messages which still
    wait, and ``oldest`` is the first of these.
    """

    def __init__(self, orders: Orders, number: int, record: Record, frames: Frames) -> None:
        super().__init__(orders, number, orders.confirms, record, frames)
        self.routes, self.first_sender = frames.routes, number * orders.partitions
        self.open, self.oldest = np.zeros(self.window, dtype=bool), 0

    @property
    def pending(self) -> int:
        """Messages from the oldest one on that waits: later ones may be confirmed."""
        return self.next - self.oldest

    def identity(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """The partition of each is its sender."""
        partition, within = self.routes.numbered(numbers)
        return self.first_sender + partition, within

    def attach(self, connection: Outbox) -> None:
        """Send on this connection from now on; nothing waits."""
        super().attach(connection)
        self.open[:], self.oldest = False, self.next

    def wanted(self, now_ns: int) -> int:
        """Messages of one partition that may be sent now, at once."""
        _, left = self.routes.run(self.next)
        return min(super().wanted(now_ns), left)

    def send(self, count: int) -> None:
        """Send so many at once."""
        self.open.put(np.arange(self.next, self.next + count), True, mode="wrap")  # noqa: FBT003
        super().send(count)

    def ended(self, stream: str, numbers: Numbers, now_ns: int) -> None:
        """A partition has these messages, or refuses them."""
        super().ended(stream, numbers, now_ns)
        self.open.put(numbers, False, mode="wrap")  # noqa: FBT003
        sent = np.arange(self.oldest, self.next)
        waiting = np.flatnonzero(self.open.take(sent, mode="wrap"))
        self.oldest = int(sent[waiting[0]]) if len(waiting) else self.next

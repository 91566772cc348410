"""A publishing thread: its messages as rows of bytes, what it has sent, what awaits its confirm."""

import os
import time

import numpy as np
from numpy.typing import NDArray

from mqperf_numbered.onhost import stamps
from mqperf_numbered.onhost.record import Record
from mqperf_numbered.onhost.schedule import NS, of_thread
from mqperf_streams.onhost import codec
from mqperf_streams.onhost.connection import Connection
from mqperf_streams.onhost.orders import Orders, Thread

BLOCK_BYTES = 1 << 18
"""Of one frame, unless a single message is longer."""

STAMP_AT = codec.MESSAGE.size + len(codec.SECTION) + 4


class PublisherThread:
    """One thread.  Its numbers count what was handed over in whole frames, from 0.

    They are the publishing ids, too, by which the broker confirms.
    """

    def __init__(self, orders: Orders, thread: Thread, record: Record) -> None:
        self.thread, self.record = thread, record
        self.schedule = of_thread(orders, thread.number)
        self.total, self.window = orders.count_of(thread.number), orders.confirms
        self.next = self.count = self.sent_ns = 0
        self.waiting = self.unconfirmed = 0
        self.due_ns = np.zeros(self.window, dtype=np.int64)
        body = codec.SECTION + codec.opaque(os.urandom(orders.payload_bytes))
        message = codec.MESSAGE.pack(0, len(body)) + body
        threads = len(orders.threads)
        self.rows, self.stamps = stamps.block(message, STAMP_AT, BLOCK_BYTES, threads)
        self.ids = np.ndarray(len(self.rows), ">u8", self.rows.data, 0, (len(message),))
        self.stamps["run"], self.stamps["sender"] = orders.run, thread.number

    def attach(self, connection: Connection) -> None:
        """Send on this connection from now on; what was not confirmed before never will be."""
        self.connection = connection
        self.unconfirmed += self.waiting
        self.waiting = 0

    @property
    def held_back(self) -> bool:
        """Whether it must wait for confirms, or has sent all."""
        return self.waiting >= self.window or self.next >= self.total

    def wanted(self, now_ns: int) -> int:
        """Messages that may be sent now, in one frame."""
        due = len(self.rows) if self.schedule is None else self.schedule.due(now_ns) - self.next
        return min(due, len(self.rows), self.window - self.waiting, self.total - self.next)

    def next_due_ns(self) -> int:
        """When the next message is due; there must be a schedule."""
        return 0 if self.schedule is None else self.schedule.instant_ns(self.next)

    def send(self, count: int) -> None:
        """Send so many in a frame; all that came before must have been handed over."""
        self.sent_ns, self.count = time.time_ns(), count
        numbers, written = np.arange(self.next, self.next + count), self.stamps[:count]
        due: NDArray[np.int64] | int = self.sent_ns
        if self.schedule is not None:
            due = self.schedule.instants_ns(self.next, count)
        self.ids[:count] = written["number"] = numbers
        written["due_ns"], written["sent_ns"] = due, self.sent_ns
        self.due_ns.put(numbers, due, mode="wrap")
        content = self.rows[:count].tobytes()
        size = codec.PUBLISHED.size - codec.SIZE.size + len(content)
        self.waiting += count
        self.connection.send(codec.PUBLISHED.pack(size, codec.PUBLISH, 1, 0, count) + content)
        if self.connection.drained:
            self.settle()

    def settle(self) -> None:
        """Count the last frame if it was handed over whole; if not, it is still to be sent."""
        count, self.count = self.count, 0
        if not count:
            return
        if not self.connection.drained:
            self.waiting -= count
            return
        numbers, sent = np.arange(self.next, self.next + count), self.sent_ns / NS
        self.record.add("sent", self.thread.number, numbers, sent)
        if self.schedule is not None:
            due = self.due_ns.take(numbers, mode="wrap") / NS
            self.record.add("handover", self.thread.number, numbers, due, sent)
        self.next += count

    def ended(self, stream: str, numbers: NDArray[np.int64], now_ns: int) -> None:
        """The broker has these messages (``confirmed``), or refuses them (``error``)."""
        due = self.due_ns.take(numbers, mode="wrap") / NS
        self.record.add(stream, self.thread.number, numbers, due, now_ns / NS)
        self.waiting -= len(numbers)

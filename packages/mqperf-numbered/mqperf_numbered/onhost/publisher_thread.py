"""A publishing thread: sends blocks of messages, and keeps count of unconfirmed ones."""

import math
import time
from typing import Protocol

import numpy as np

from mqperf_numbered.onhost.orders import ThreadOrders
from mqperf_numbered.onhost.outbox import Outbox
from mqperf_numbered.onhost.record import Numbers, Record
from mqperf_numbered.onhost.schedule import NS
from mqperf_numbered.onhost.sending_thread import SendingThread
from mqperf_numbered.onhost.stamps import Stamps

BLOCK_BYTES = 1 << 18
"""The size of a block of messages sent at once, unless a single message is longer."""


class Messages(Protocol):
    """A block of messages, complete but for their ``stamps``."""

    stamps: Stamps

    def content(self, numbers: Numbers) -> bytes:
        """Return the first messages of the block as bytes, with these numbers."""
        ...

    def handed_over(self, count: int, taken: int) -> int:
        """Return how many of ``count`` messages are whole in the first ``taken`` bytes."""
        ...


class PublisherThread(SendingThread):
    """A publishing thread, which numbers the messages that it handed over from 0.

    At most ``window`` of its messages are unconfirmed; with 0, no confirms are requested.  When a
    full window has had no confirm for ``patience_s``, no confirm is expected any more.
    """

    connection: Outbox
    patience_s = math.inf

    def __init__(
        self, orders: ThreadOrders, number: int, window: int, record: Record, messages: Messages
    ) -> None:
        super().__init__(orders, number, record)
        self.window, self.messages = window, messages
        self.waiting = self.unconfirmed = self.ended_ns = 0
        self.due_ns = np.zeros(max(window, 1), dtype=np.int64)
        messages.stamps["run"] = orders.run

    def attach(self, connection: Outbox) -> None:
        """Send on this connection from now on; earlier unconfirmed messages stay unconfirmed."""
        self.connection, self.ended_ns = connection, time.time_ns()
        self.unconfirmed += self.waiting
        self.waiting = 0

    def identity(self, numbers: Numbers) -> tuple[Numbers | int, Numbers]:
        """Return sender and numbers of these messages as in stamps and in the record."""
        return self.number, numbers

    @property
    def pending(self) -> int:
        """How much of its window is in use."""
        return self.waiting

    @property
    def full(self) -> bool:
        """Whether it must wait for confirms."""
        return 0 < self.window <= self.pending

    @property
    def forgotten(self) -> bool:
        """Whether its full window has had no confirm for too long."""
        return self.full and time.time_ns() - self.ended_ns > self.patience_s * NS

    @property
    def held_back(self) -> bool:
        """Whether it must wait for confirms, or has sent all its messages."""
        return self.full or self.next >= self.total

    def sendable(self, now_ns: int) -> int:
        """Return how many messages may be sent now, in one block."""
        block = len(self.messages.stamps)
        due = block if self.schedule is None else self.schedule.due(now_ns) - self.next
        room = self.window - self.pending if self.window else block
        return min(due, block, room, self.total - self.next)

    def send(self, count: int) -> None:
        """Send a block of ``count`` messages; all earlier ones must have been handed over."""
        self.sent_ns, self.count = time.time_ns(), count
        numbers, written = np.arange(self.next, self.next + count), self.messages.stamps[:count]
        due: Numbers | int = self.sent_ns
        if self.schedule is not None:
            due = self.schedule.instants_ns(self.next, count)
        written["sender"], written["number"] = self.identity(numbers)
        written["due_ns"], written["sent_ns"] = due, self.sent_ns
        if self.window:
            self.due_ns.put(numbers, due, mode="wrap")
            self.waiting += count
        self.began_at = self.connection.queued
        self.connection.send(self.messages.content(numbers))
        if self.connection.drained:
            self.settle()

    def settle(self) -> None:
        """Count the messages of the last block that were handed over; the rest are unsent."""
        if not self.count:
            return
        count, self.count = self.count, 0
        whole = self.messages.handed_over(count, self.connection.sent - self.began_at)
        if self.window:
            self.waiting -= count - whole
        sender, numbers = self.identity(np.arange(self.next, self.next + whole))
        sent = self.sent_ns / NS
        self.record.add("sent", sender, numbers, sent)
        if self.schedule is not None:
            due = self.schedule.instants_ns(self.next, whole) / NS
            self.record.add("handover", sender, numbers, due, sent)
        self.next += whole

    def ended(self, stream: str, numbers: Numbers, now_ns: int) -> None:
        """Record that the broker has ``confirmed`` these messages, or refused them (``error``)."""
        due = self.due_ns.take(numbers, mode="wrap") / NS
        self.record.add(stream, *self.identity(numbers), due, now_ns / NS)
        self.waiting -= len(numbers)
        self.ended_ns = now_ns

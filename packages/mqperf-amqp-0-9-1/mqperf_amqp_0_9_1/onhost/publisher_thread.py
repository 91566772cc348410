"""A publishing thread: the template of its messages, and its sent and unconfirmed messages."""

import os
import time
from dataclasses import replace

import numpy as np

from mqperf_amqp_0_9_1.onhost import codec
from mqperf_amqp_0_9_1.onhost.connection import Connection
from mqperf_amqp_0_9_1.onhost.orders import Orders, Thread
from mqperf_amqp_0_9_1.onhost.priorities import with_priorities
from mqperf_numbered.onhost import stamps
from mqperf_numbered.onhost.messages import Alike, Mix
from mqperf_numbered.onhost.record import BATCH, Instants, Numbers, Record
from mqperf_numbered.onhost.schedule import NS
from mqperf_numbered.onhost.sending_thread import SendingThread

BLOCK_BYTES = 1 << 18
"""The size of a block of messages of one thread."""

MOST_BLOCKS = 64
"""Sent blocks, however small, that are recorded together."""


class PublisherThread(SendingThread):
    """A publishing thread, which numbers the messages that it handed over whole from 0.

    ``schedule``, ``mix`` of lengths and ``places``, its sender indices in the record, are those of
    its orders, or set later.

    Messages are prepared in a block, lacking only the time of sending.  ``lowest`` is the first
    unconfirmed tag, ``ahead`` are confirmed ones after it.
    """

    def __init__(self, orders: Orders, thread: Thread, record: Record) -> None:
        super().__init__(orders, thread.number, record)
        self.orders, self.thread = orders, thread
        self.mix, self.places = orders.payload_mix, range(thread.number, thread.number + 1)
        self.at = self.block = 0
        self.paused = False
        self.unconfirmed = 0
        self.window = max(orders.confirms, 1)
        self.tag_of_next = self.lowest = 1
        self.ahead: set[int] = set()
        self.due_ns = np.zeros(self.window, dtype=np.int64)
        self.counts: list[int] = []
        self.instants_ns: list[int] = []

    def attach(self, connection: Connection, channel: int) -> None:
        """Send on this channel from now on; earlier unconfirmed messages stay unconfirmed."""
        self.connection, self.channel = connection, channel
        self.unconfirmed += self.waiting
        self.ahead.clear()
        self.tag_of_next = self.lowest = 1
        self.count = 0
        self.began_at = connection.queued
        self.paused = False
        self.messages = self._messages(channel)
        self.stamps = self.messages.stamps
        self.block = self.at = len(self.stamps)
        self.stamps["run"], self.stamps["sender"] = self.orders.run, self.number

    def _messages(self, channel: int) -> Alike | Mix:
        """Prepare a block of messages for this channel."""

        def message_of(length: int, priority: int | None) -> tuple[bytes, int]:
            orders = replace(self.orders, payload_bytes=length)
            return template(orders, self.thread, channel, self.connection.frame_max, priority)

        usual, share = self.orders.payload_bytes, self.orders.urgent_share
        forms = with_priorities(self.mix, share, usual)
        message, stamp_at = message_of(usual, forms[0][2])
        alike = Alike(message, stamp_at, BLOCK_BYTES, len(self.orders.threads))
        if not self.mix and share is None:
            return alike
        messages = [message_of(length, priority)[0] for _, length, priority in forms]
        return Mix(messages, [part for part, _, _ in forms], stamp_at, len(alike.stamps))

    @property
    def held_back(self) -> bool:
        """Whether it must wait for the broker (flow control or confirms), or has sent all."""
        full = self.tag_of_next - self.lowest >= self.window
        return self.paused or (self.orders.confirms > 0 and full) or self.next >= self.total

    def sendable(self, now_ns: int) -> int:
        """Return how many messages may be sent now."""
        if self.paused:
            return 0
        due = self.block if self.schedule is None else self.schedule.due(now_ns) - self.next
        if self.orders.confirms:
            due = min(due, self.window - (self.tag_of_next - self.lowest))
        return min(due, self.total - self.next)

    def next_due_ns(self) -> int:
        """Return when to send again: without a schedule, after all other threads."""
        if self.schedule is None:
            return self.sent_ns + 1
        if self.at < self.block:
            return int(self.stamps["due_ns"][self.at])
        return self.schedule.instant_ns(self.next)

    def send(self, count: int) -> None:
        """Send ``count`` messages, or what is prepared; all earlier ones must be handed over."""
        if self.at == self.block:
            self._renew()
        count = min(count, self.block - self.at)
        span = slice(self.at, self.at + count)
        self.sent_ns = time.time_ns()
        self.stamps["sent_ns"][span] = self.sent_ns
        if self.schedule is None:
            self.stamps["due_ns"][span] = self.sent_ns
        if self.orders.confirms:
            tags = np.arange(self.tag_of_next, self.tag_of_next + count)
            self.due_ns.put(tags, self.stamps["due_ns"][span], mode="wrap")
            self.tag_of_next += count
        self.at, self.count = span.stop, count
        self.began_at = self.connection.queued
        self.connection.send(self.messages.content(span))
        if self.connection.drained:
            self.settle()

    def settle(self) -> None:
        """Count the messages of the last block that were handed over whole; the rest are unsent."""
        if not self.count:
            return
        whole = min(self.messages.handed_over(self.connection.sent - self.began_at), self.count)
        if self.orders.confirms:
            self.tag_of_next -= self.count - whole
        self.next += whole
        self.count = 0
        self.counts.append(whole)
        self.instants_ns.append(self.sent_ns)
        if len(self.counts) >= MOST_BLOCKS or whole >= BATCH:
            self.record_sent()

    def record_sent(self) -> None:
        """Record the messages sent since the last call."""
        if not self.counts:
            return
        count = sum(self.counts)
        sent = np.repeat(np.array(self.instants_ns) / NS, self.counts)
        first = self.next - count
        numbers = np.arange(first, self.next)
        self.add("sent", numbers, sent)
        if self.schedule is not None:
            due = self.schedule.instants_ns(first, count) / NS
            self.add("handover", numbers, due, sent)
        self.counts, self.instants_ns = [], []

    def add(
        self,
        stream: str,
        numbers: Numbers,
        started: Instants | float,
        finished: Instants | float = 0.0,
    ) -> None:
        """Record messages for each of the thread's sender indices."""
        for place in self.places:
            self.record.add(stream, place, numbers, started, finished)

    def confirm(self, first: int, last: int, *, good: bool, now_ns: int) -> int:
        """Record that the broker confirms (``good``) or refuses tags; return how many were open."""
        first, last = max(first, self.lowest), min(last, self.tag_of_next - 1)
        tags = np.arange(first, last + 1)
        if self.ahead:
            tags = np.array([tag for tag in range(first, last + 1) if tag not in self.ahead], int)
        if len(tags):
            base = self.next + self.count - self.tag_of_next
            due = self.due_ns.take(tags, mode="wrap") / NS
            stream = "confirmed" if good else "error"
            self.add(stream, tags + base, due, now_ns / NS)
            self._close_tags(first, last)
        return len(tags)

    @property
    def waiting(self) -> int:
        """Messages that the broker has not confirmed yet."""
        return self.tag_of_next - self.lowest - len(self.ahead)

    def _close_tags(self, first: int, last: int) -> None:
        """Mark tags as answered, and move ``lowest`` to the first that is still open."""
        if first > self.lowest:
            self.ahead.update(range(first, last + 1))
            return
        self.lowest = last + 1
        if self.ahead:
            self.ahead.difference_update(range(first, last + 1))
            while self.lowest in self.ahead:
                self.ahead.discard(self.lowest)
                self.lowest += 1

    def _renew(self) -> None:
        """Prepare the next messages in the block."""
        self.at = 0
        self.stamps["number"] = np.arange(self.next, self.next + self.block)
        if self.schedule is not None:
            self.stamps["due_ns"] = self.schedule.instants_ns(self.next, self.block)


def template(
    orders: Orders, thread: Thread, channel: int, frame_max: int, priority: int | None = None
) -> tuple[bytes, int]:
    """Return a message as frames, with room for its stamp, and the position of the stamp.

    The stamp is in the body, or in the message-id if the plan gives the body.
    """
    blank = bytes(stamps.SIZE)
    in_body = orders.in_body
    properties = codec.Properties(
        headers=thread.headers or None,
        delivery_mode=2 if orders.persistent else None,
        priority=priority,
        expiration=None if orders.ttl_ms is None else str(orders.ttl_ms),
        message_id=None if in_body else b"\xff" * stamps.SIZE,
    )
    body = _body(orders) if orders.body is None else orders.body
    publish = codec.publish(thread.exchange, thread.routing_key, mandatory=orders.mandatory)
    method = codec.method(channel, codec.PUBLISH, publish)
    encoded = properties.encode()
    message = method + codec.content(channel, encoded, body, frame_max)
    header_at = len(method) + codec.FRAME.size
    if in_body:
        at = header_at + 12 + len(encoded) + 1 + codec.FRAME.size
        return message[:at] + blank + message[at + stamps.SIZE :], at
    return message, message.index(b"\xff" * stamps.SIZE, header_at)


def _body(orders: Orders) -> bytes:
    """Return random, incompressible bytes, the same for every message of a thread."""
    return os.urandom(orders.payload_bytes)

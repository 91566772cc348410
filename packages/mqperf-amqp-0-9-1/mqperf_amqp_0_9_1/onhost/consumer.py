"""A server: consumes from the queues of its threads, and records every message."""

import math
import struct
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mqperf.onhost.load.control import Control
from mqperf_amqp_0_9_1.onhost import codec, priorities
from mqperf_amqp_0_9_1.onhost.connection import Connection
from mqperf_amqp_0_9_1.onhost.dead_letters import STREAM, arguments, check, dead_letter_queue
from mqperf_amqp_0_9_1.onhost.deliveries import FROM, Batch, Deliveries
from mqperf_amqp_0_9_1.onhost.orders import Orders, Thread
from mqperf_amqp_0_9_1.onhost.rejections import Chosen, Rejections
from mqperf_amqp_0_9_1.onhost.urgent import urgent
from mqperf_numbered.onhost.arrivals import Arrivals
from mqperf_numbered.onhost.broker import Lost, Refused
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.managed_connections import ManagedConnection, ManagedConnections
from mqperf_numbered.onhost.record import Numbers, Record
from mqperf_numbered.onhost.roles import SERVER_IDLE_S, Server
from mqperf_numbered.onhost.schedule import NS
from mqperf_numbered.onhost.stamps import Stamps
from mqperf_numbered.onhost.waiting import Waiting, shares

GATHER_S, GATHER_BYTES = 0.01, 1 << 17
"""Received bytes are read and time-stamped at once, but parsed after so long, or when they are so
many.  As messages are acknowledged when parsed, the delay is shorter with acknowledgements:"""

ACK_S, ACK_SHARE = 0.001, 4
"""Seconds, or the messages of 1/4 of the prefetch."""

LINGER_S, SHORTEST_S, SHARE = 0.001, 0.0001, 50
"""If messages queue up, the consumer pauses for 1/50 of the last one's time in the queue, 1 ms at
most, to read the next ones together: latency is then up to 2 % too long.  If nothing queues, or
messages are acknowledged, they are read as they come."""

LENGTH = "bytes "
"""Prefix of the diary's counts of messages by length of body; each message counts once."""

REQUEUE = 1
"""The flag of a rejection by which the message is delivered again."""

ACK = codec.method(1, codec.ACK, codec.ack(0))
REJECT = codec.method(1, codec.REJECT, struct.pack(">QB", 0, REQUEUE))
TAG_AT, MULTIPLE_AT = 11, 19


class Intake(ManagedConnection[Connection]):
    """A connection with a channel and a consumer for each queue of some threads.

    Queues of dead letters, if any, come last, in the order of the queues they belong to.
    """

    def __init__(
        self,
        orders: Orders,
        threads: Sequence[Thread],
        server: "Consumer",
        waiting: Waiting,
        diary: Diary,
    ) -> None:
        super().__init__(waiting, diary, partial(Connection, orders.broker))
        self.orders, self.server = orders, server
        bound = [(thread, queue) for thread in threads for queue in thread.queues]
        dead = [dead_letter_queue(queue) for _, queue in bound if orders.dead_letters is not None]
        self.bound, self.queues = bound, [*(queue for _, queue in bound), *dead]
        copy = np.concatenate([np.arange(len(thread.queues)) for thread in threads])
        self.copy = np.resize(copy, len(self.queues))
        self.next_offset = np.zeros(len(self.queues), dtype=np.int64)

    def prepare(self, connection: Connection) -> None:
        """Declare exchanges and queues, and consume."""
        check(self.orders.dead_letters, connection.version)
        of_queues = self.orders.queue_arguments
        priorities.check(self.orders.urgent_share, of_queues, connection.version)
        self.on = connection
        self.deliveries = Deliveries(
            connection, self._take, self._other, in_body=self.orders.in_body
        )
        for channel, queue in enumerate(self.queues, 1):
            connection.open_channel(channel)
            if channel <= len(self.bound):
                self._declare_bound(connection, channel, *self.bound[channel - 1])
            else:
                self._declare(connection, channel, queue, {})
            if self.orders.acks != "auto":
                connection.call(channel, codec.QOS, codec.qos(self.orders.prefetch))
        if self.server.consuming:
            self.consume()

    def consume(self) -> None:
        """Start to consume from all queues."""
        for channel, queue in enumerate(self.queues, 1):
            self._consume(channel, queue)

    def parse(self) -> None:
        """Handle all frames that have come whole."""
        if self.connection is not None:
            self.read(self.connection)

    def settle(self) -> None:
        """Record what had come before the connection was lost."""
        with suppress(Lost, Refused):
            self.deliveries.read()

    def enough(self, connection: Connection) -> bool:
        """Whether enough has come to parse it now; if not, the server does so soon."""
        if enough := connection.have >= self._gather_bytes():
            self.server.unparsed.discard(self)
        else:
            self.server.unparsed.add(self)
        return enough

    def _gather_bytes(self) -> int:
        """Return the number of bytes that are parsed without further delay."""
        if self.orders.acks == "auto":
            return GATHER_BYTES
        messages = self.orders.prefetch // ACK_SHARE
        return min(GATHER_BYTES, messages * self.deliveries.shortest)

    def read(self, _connection: Connection) -> None:
        """Handle all frames that have come whole."""
        self.deliveries.read()

    def _declare_bound(
        self, connection: Connection, channel: int, thread: Thread, queue: str
    ) -> None:
        exchange, kind = thread.exchange, self.orders.exchange_type
        declare = codec.exchange_declare(exchange, kind, durable=True, auto_delete=True)
        connection.call(channel, codec.EXCHANGE_DECLARE, declare)
        limits = arguments(queue, self.orders.delivery_limit, self.orders.dead_letters)
        self._declare(connection, channel, queue, limits)
        bind = codec.queue_bind(queue, exchange, thread.binding_key, thread.binding)
        connection.call(channel, codec.QUEUE_BIND, bind)

    def _declare(
        self, connection: Connection, channel: int, queue: str, further: codec.Table
    ) -> None:
        all_arguments = {**self.orders.queue_arguments, **further}
        declare = codec.queue_declare(queue, all_arguments, durable=True)
        connection.call(channel, codec.QUEUE_DECLARE, declare)

    def _consume(self, channel: int, queue: str) -> None:
        # the answer is not awaited, as deliveries may come before it
        offset = int(self.next_offset[channel - 1])
        arguments: codec.Table = {FROM: offset} if self.orders.log else {}
        consume = codec.consume(queue, arguments, no_ack=self.orders.acks == "auto")
        self.on.send(codec.method(channel, codec.CONSUME, consume))
        self.watch()

    def _take(self, batch: Batch) -> None:
        """Reject the chosen deliveries, and accept all others."""
        if batch.offset is not None:  # in order on each channel: the last assignment holds
            self.next_offset[batch.channel - 1] = batch.offset + 1
        if self.server.rejections is None:
            self._accept(batch)
            return
        rejected = self.server.rejections.chosen(batch, self._dead(batch))
        if rejected.any():  # first, as a multiple acknowledgement includes all unsettled ones
            self._answer(rejects(batch.where(rejected)))
        if not rejected.all():
            self._accept(batch.where(~rejected))

    def _accept(self, batch: Batch) -> None:
        """Record deliveries, and acknowledge them if ordered."""
        dead = None if self.orders.dead_letters is None else self._dead(batch)
        self.server.take(batch, self.copy[batch.channel - 1], dead)
        if self.orders.acks != "auto":
            self._answer(acks(batch, multiple=self.orders.acks == "multiple"))

    def _dead(self, batch: Batch) -> Chosen:
        """Return which deliveries are dead letters."""
        dead: Chosen = batch.channel > len(self.bound)
        return dead

    def _answer(self, frames: bytes) -> None:
        with suppress(Lost):  # the next read handles it; these deliveries were received
            self.on.send(frames)
            self.watch()

    def _other(self, channel: int, payload: bytes) -> None:
        which = codec.which(payload)
        if which == codec.CANCEL:
            queue = self.queues[channel - 1]
            raise Refused(f"the broker cancelled the consumer of queue {queue}")
        self.on.attend(channel, payload)


def acks(batch: Batch, *, multiple: bool) -> bytes:
    """Encode acknowledgements of every delivery, or one for all up to the last of each channel."""
    channel, tag = batch.channel, batch.tag
    if multiple:
        last = np.append(np.flatnonzero(np.diff(channel)), len(channel) - 1)
        channel, tag = channel[last], tag[last]
    frames = _frames(ACK, channel, tag)
    frames[:, MULTIPLE_AT] = multiple
    return frames.tobytes()


def rejects(batch: Batch) -> bytes:
    """Encode rejections of every delivery, each to be delivered again.

    They use ``basic.reject``, as ``basic.nack`` does not count towards delivery limits since
    RabbitMQ 4.3.
    """
    return _frames(REJECT, batch.channel, batch.tag).tobytes()


def _frames(method: bytes, channel: Numbers, tag: Numbers) -> NDArray[np.uint8]:
    """Return copies of a frame of a method, a row for each tag."""
    frames = np.tile(np.frombuffer(method, np.uint8), (len(tag), 1))
    frames[:, 1], frames[:, 2] = channel >> 8, channel & 0xFF
    frames[:, TAG_AT:MULTIPLE_AT] = tag.astype(">i8").view(np.uint8).reshape(-1, 8)
    return frames


class Consumer(Server[Intake]):
    """All connections of a process, and in ``unparsed`` those with bytes that are parsed later."""

    def __init__(self, orders: Orders, control: Control, record: Record, diary: Diary) -> None:
        self.orders, self.lengths = orders, Counter[int]()
        self.rejections: Rejections | None = None
        if orders.reject_share is not None:
            self.rejections = Rejections(orders.reject_share, orders.run, diary)
        waiting = Waiting(exact=False)
        intakes = [
            Intake(orders, share, self, waiting, diary)
            for share in shares(orders.threads, orders.channels)
        ]
        connections, arrivals = ManagedConnections(waiting, intakes), Arrivals(record, orders)
        super().__init__(control, connections, arrivals, diary, orders.consume_after_s)
        self.unparsed: set[Intake] = set()
        self.gather_s = GATHER_S if orders.acks == "auto" else ACK_S
        self.parsed_at = 0.0
        self.queued_s, self.least_s = 0.0, math.inf

    def run(self, start: float) -> None:
        """Consume until told to stop."""
        try:
            self._run(start)
        finally:
            for intake in self.connections.all:
                if intake.connection is not None:
                    intake.settle()
            for length, count in self.lengths.items():
                self.diary.count(f"{LENGTH}{length}", count)

    def _run(self, start: float) -> None:
        self.attend_until_stop(start)
        self._parse()
        self.say_count()
        for intake in self.connections.all:
            if (connection := intake.connection) is not None:
                intake.connection = None
                connection.close(1.0)

    def take(self, batch: Batch, copy: Numbers, dead: Chosen | None = None) -> None:
        """Record deliveries; ``copy`` is the index of each one's queue among those of its message.

        Those that are ``dead`` letters are also recorded as such.
        """
        self.lengths[batch.body_bytes] += int((copy == 0).sum())
        stamp, now = batch.stamp, batch.read_ns / NS
        sender = stamp["sender"].astype(np.int64) * self.orders.copies + copy
        due = self.arrivals.take(stamp, sender, now)
        for stream, chosen in self._substreams(stamp, dead):
            own = chosen & (stamp["run"] == self.orders.run)
            number = stamp["number"][own].astype(np.int64)
            self.arrivals.record.add(stream, sender[own], number, due[own], now[own])
        waited = now - due
        self.least_s = min(self.least_s, float(waited.min()))
        self.queued_s = float(waited[-1]) - self.least_s

    def _substreams(self, stamp: Stamps, dead: Chosen | None) -> Iterator[tuple[str, Chosen]]:
        """Yield the streams for dead letters and priorities, with masks of their messages."""
        if dead is not None:
            yield STREAM, dead
        if (share := self.orders.urgent_share) is not None:
            chosen = urgent(stamp["number"], stamp["sender"], share)
            yield priorities.URGENT, chosen
            yield priorities.USUAL, ~chosen

    def attend(self) -> None:
        """Read what comes, and parse it if it is time."""
        self._linger()
        came = self.connections.attend(self.gather_s if self.unparsed else SERVER_IDLE_S)
        if self.unparsed and not (came and time.monotonic() < self.parsed_at + self.gather_s):
            self._parse()

    def _parse(self) -> None:
        self.parsed_at = time.monotonic()
        unparsed, self.unparsed = self.unparsed, set()
        for intake in unparsed:
            self.connections.try_on(intake, intake.parse)

    def _linger(self) -> None:
        """Pause so that messages are read together, if they have queued anyway."""
        linger_s = min(LINGER_S, self.queued_s / SHARE)
        if self.orders.acks == "auto" and linger_s > SHORTEST_S:
            time.sleep(linger_s)

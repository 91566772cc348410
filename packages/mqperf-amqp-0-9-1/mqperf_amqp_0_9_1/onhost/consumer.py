"""A server: consumes from the queues of its threads, and accounts for every message."""

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
"""What has come is understood after so long, or when it is so much; it was read, and its instant
taken, at once.  Acknowledgements wait for that, so those of many messages wait less:"""

ACK_S, ACK_SHARE = 0.001, 4
"""Or for no more messages than this part of the prefetch."""

LINGER_S, SHORTEST_S, SHARE = 0.001, 0.0001, 50
"""Where messages have queued, the next are read together after a part of the time that the last one
was in the queue, 1 ms at most: latency is then up to 2 % too long.  Where nothing queues, or
messages are acknowledged, they are read as they come."""

LENGTH = "bytes "
"""How counts in a diary begin of messages by the length of their body; each counts once."""

REQUEUE = 1
"""The flag of a rejection after which the message is to be delivered again."""

ACK = codec.method(1, codec.ACK, codec.ack(0))
REJECT = codec.method(1, codec.REJECT, struct.pack(">QB", 0, REQUEUE))
TAG_AT, MULTIPLE_AT = 11, 19


class Intake(ManagedConnection[Connection]):
    """A connection with a channel, and a consumer on it, for each queue of some threads.

    Where there are dead letters, the queues of these follow, in the order of those they come from.
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
        """Declare everything, and consume."""
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
        """Ask for the messages of all queues."""
        for channel, queue in enumerate(self.queues, 1):
            self._consume(channel, queue)

    def understand(self) -> None:
        """Deal with all that has come whole."""
        if self.connection is not None:
            self.read(self.connection)

    def settle(self) -> None:
        """Account for what had come before the connection was lost."""
        with suppress(Lost, Refused):
            self.deliveries.read()

    def enough(self, connection: Connection) -> bool:
        """Whether to deal with what has come at once; if not, the server will soon."""
        if enough := connection.have >= self._gathered():
            self.server.behind.discard(self)
        else:
            self.server.behind.add(self)
        return enough

    def _gathered(self) -> int:
        """Bytes that are gathered at most."""
        if self.orders.acks == "auto":
            return GATHER_BYTES
        messages = self.orders.prefetch // ACK_SHARE
        return min(GATHER_BYTES, messages * self.deliveries.shortest)

    def read(self, _connection: Connection) -> None:
        """Deal with all that has come whole."""
        self.deliveries.read()

    def _declare_bound(
        self, connection: Connection, channel: int, thread: Thread, queue: str
    ) -> None:
        exchange, kind = thread.exchange, self.orders.exchange_type
        declared = codec.exchange_declare(exchange, kind, durable=True, auto_delete=True)
        connection.call(channel, codec.EXCHANGE_DECLARE, declared)
        limited = arguments(queue, self.orders.delivery_limit, self.orders.dead_letters)
        self._declare(connection, channel, queue, limited)
        bound = codec.queue_bind(queue, exchange, thread.binding_key, thread.binding)
        connection.call(channel, codec.QUEUE_BIND, bound)

    def _declare(
        self, connection: Connection, channel: int, queue: str, further: codec.Table
    ) -> None:
        every = {**self.orders.queue_arguments, **further}
        wanted = codec.queue_declare(queue, every, durable=True)
        connection.call(channel, codec.QUEUE_DECLARE, wanted)

    def _consume(self, channel: int, queue: str) -> None:
        # deliveries may come before the answer, and are taken then: so nobody waits for it
        begin = int(self.next_offset[channel - 1])
        arguments: codec.Table = {FROM: begin} if self.orders.log else {}
        wanted = codec.consume(queue, arguments, no_ack=self.orders.acks == "auto")
        self.on.send(codec.method(channel, codec.CONSUME, wanted))
        self.watch()

    def _take(self, batch: Batch) -> None:
        """Reject those that are to be, and accept all others."""
        if batch.offset is not None:  # in order on each channel: the last one stays
            self.next_offset[batch.channel - 1] = batch.offset + 1
        if self.server.rejections is None:
            self._accept(batch)
            return
        rejected = self.server.rejections.chosen(batch, self._dead(batch))
        if rejected.any():  # first: an acknowledgement may be of all that is not settled before it
            self._answer(rejects(batch.where(rejected)))
        if not rejected.all():
            self._accept(batch.where(~rejected))

    def _accept(self, batch: Batch) -> None:
        """Count deliveries, and acknowledge them if that is asked for."""
        dead = None if self.orders.dead_letters is None else self._dead(batch)
        self.server.take(batch, self.copy[batch.channel - 1], dead)
        if self.orders.acks != "auto":
            self._answer(acks(batch, multiple=self.orders.acks == "multiple"))

    def _dead(self, batch: Batch) -> Chosen:
        """Which of them are dead letters."""
        dead: Chosen = batch.channel > len(self.bound)
        return dead

    def _answer(self, frames: bytes) -> None:
        with suppress(Lost):  # the next read will find it out; these deliveries have come
            self.on.send(frames)
            self.watch()

    def _other(self, channel: int, payload: bytes) -> None:
        which = codec.which(payload)
        if which == codec.CANCEL:
            queue = self.queues[channel - 1]
            raise Refused(f"the broker cancelled the consumer of queue {queue}")
        self.on.attend(channel, payload)


def acks(batch: Batch, *, multiple: bool) -> bytes:
    """Acknowledgements: of every delivery, or one of all up to the last of each channel."""
    channel, tag = batch.channel, batch.tag
    if multiple:
        last = np.append(np.flatnonzero(np.diff(channel)), len(channel) - 1)
        channel, tag = channel[last], tag[last]
    frames = _frames(ACK, channel, tag)
    frames[:, MULTIPLE_AT] = multiple
    return frames.tobytes()


def rejects(batch: Batch) -> bytes:
    """Rejections of every delivery: each is to be delivered again.

    By ``basic.reject``, which counts for a delivery limit: since RabbitMQ 4.3 ``basic.nack`` does
    not.
    """
    return _frames(REJECT, batch.channel, batch.tag).tobytes()


def _frames(method: bytes, channel: Numbers, tag: Numbers) -> NDArray[np.uint8]:
    """A row for each tag."""
    frames = np.tile(np.frombuffer(method, np.uint8), (len(tag), 1))
    frames[:, 1], frames[:, 2] = channel >> 8, channel & 0xFF
    frames[:, TAG_AT:MULTIPLE_AT] = tag.astype(">i8").view(np.uint8).reshape(-1, 8)
    return frames


class Consumer(Server[Intake]):
    """All connections of a process, from the first declaration to the end of the drain."""

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
        self.behind: set[Intake] = set()
        self.gather_s = GATHER_S if orders.acks == "auto" else ACK_S
        self.understood_at = 0.0
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
        self._understand()
        self.say_count()
        for intake in self.connections.all:
            if (connection := intake.connection) is not None:
                intake.connection = None
                connection.close(1.0)

    def take(self, batch: Batch, copy: Numbers, dead: Chosen | None = None) -> None:
        """Record deliveries; ``copy`` tells of which of a message's queues each is.

        Those that are ``dead`` letters are recorded as such as well.
        """
        self.lengths[batch.body_bytes] += int((copy == 0).sum())
        stamp, now = batch.stamp, batch.read_ns / NS
        sender = stamp["sender"].astype(np.int64) * self.orders.copies + copy
        due = self.arrivals.take(stamp, sender, now)
        for stream, chosen in self._told_apart(stamp, dead):
            own = chosen & (stamp["run"] == self.orders.run)
            number = stamp["number"][own].astype(np.int64)
            self.arrivals.record.add(stream, sender[own], number, due[own], now[own])
        waited = now - due
        self.least_s = min(self.least_s, float(waited.min()))
        self.queued_s = float(waited[-1]) - self.least_s

    def _told_apart(self, stamp: Stamps, dead: Chosen | None) -> Iterator[tuple[str, Chosen]]:
        """Streams of their own for dead letters, and by priority, with the messages of each."""
        if dead is not None:
            yield STREAM, dead
        if (share := self.orders.urgent_share) is not None:
            chosen = urgent(stamp["number"], stamp["sender"], share)
            yield priorities.URGENT, chosen
            yield priorities.USUAL, ~chosen

    def attend(self) -> None:
        """Read what comes, and understand what was read some time ago."""
        self._linger()
        came = self.connections.attend(self.gather_s if self.behind else SERVER_IDLE_S)
        if self.behind and not (came and time.monotonic() < self.understood_at + self.gather_s):
            self._understand()

    def _understand(self) -> None:
        self.understood_at = time.monotonic()
        behind, self.behind = self.behind, set()
        for intake in behind:
            self.connections.try_on(intake, intake.understand)

    def _linger(self) -> None:
        """Let messages come that are then read together, where they have queued anyway."""
        linger_s = min(LINGER_S, self.queued_s / SHARE)
        if self.orders.acks == "auto" and linger_s > SHORTEST_S:
            time.sleep(linger_s)

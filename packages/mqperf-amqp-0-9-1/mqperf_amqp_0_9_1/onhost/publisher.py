"""A client: several threads, each a channel, that publish on schedule or as fast as they can."""

import struct
import time
from collections.abc import Sequence
from functools import partial

import numpy as np

from mqperf.onhost.load.control import Control
from mqperf_amqp_0_9_1.onhost import codec
from mqperf_amqp_0_9_1.onhost.codec import Reader
from mqperf_amqp_0_9_1.onhost.connection import Connection
from mqperf_amqp_0_9_1.onhost.deliveries import Assembler, stamp_of
from mqperf_amqp_0_9_1.onhost.orders import Orders
from mqperf_amqp_0_9_1.onhost.publisher_thread import PublisherThread
from mqperf_amqp_0_9_1.onhost.send_queue import SendQueue
from mqperf_numbered.onhost.broker import Lost
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.managed_connections import ManagedConnection, ManagedConnections
from mqperf_numbered.onhost.record import Record
from mqperf_numbered.onhost.roles import Client
from mqperf_numbered.onhost.schedule import NS
from mqperf_numbered.onhost.waiting import Waiting, shares

LINGER_S = 1.0
"""Without confirms, how long a channel stays open after the broker has read its last message:
messages that have not reached a quorum queue by then are lost with the channel."""

CONFIRM = struct.Struct(">BHIHHQBB")
"""A frame with ``basic.ack``: type, channel, size, class, method, tag, whether multiple, end."""


class Channels(ManagedConnection[Connection]):
    """A connection with its publisher threads.

    Threads are in the send queue while they can send.  Otherwise they are in ``held`` until
    something comes from the broker, or the socket takes more.
    """

    def __init__(
        self,
        orders: Orders,
        publishers: Sequence[PublisherThread],
        send_queue: SendQueue,
        waiting: Waiting,
        diary: Diary,
    ) -> None:
        self.orders, self.publishers, self.send_queue = orders, publishers, send_queue
        super().__init__(waiting, diary, partial(Connection, orders.broker))
        self.held = list(publishers)
        self.unanswered, self.answered_ns = set[int](), 0

    def prepare(self, connection: Connection) -> None:
        """Open a channel for each publisher."""
        for channel, publisher in enumerate(self.publishers, 1):
            connection.open_channel(channel)
            if self.orders.confirms:
                connection.call(channel, codec.SELECT, b"\0")
            publisher.attach(connection, channel)
        self.assembler = Assembler()
        self.unanswered.clear()

    def settle(self) -> None:
        """Count what was handed over, and let all publishers try again."""
        for publisher in self.publishers:
            publisher.settle()
        self._release()

    def _release(self) -> None:
        """Put all held publishers back into the send queue."""
        held, self.held = self.held, []
        for publisher in held:
            self.send_queue.add(publisher.next_due_ns(), publisher)

    def publish(self, publisher: PublisherThread, now_ns: int) -> None:
        """Send what is due of a publisher that was taken from the send queue; raises ``Lost``."""
        try:
            can_send = self._send(publisher, now_ns)
        except Lost:
            self.held.append(publisher)
            raise
        if can_send:
            self.send_queue.add(max(publisher.next_due_ns(), now_ns + 1), publisher)
        else:
            self.held.append(publisher)

    def _send(self, publisher: PublisherThread, now_ns: int) -> bool:
        """Send all that is due, or a block without a schedule; return whether more can be sent."""
        connection = self.connection
        if connection is None or connection.blocked:
            return False
        while connection.drained and (count := publisher.sendable(now_ns)) > 0:
            publisher.send(count)
            if publisher.schedule is None:
                break
        self.watch()
        return connection.drained and not publisher.held_back

    def read(self, connection: Connection) -> None:
        """Handle all frames that have come whole."""
        at = 0
        while (frame := connection.frame(at)) is not None:
            kind, channel, payload = frame
            if kind == codec.METHOD and codec.which(payload) == codec.ACK:
                at = self._acks(connection, at)
                continue
            at += len(payload) + codec.OVERHEAD
            self._other(connection, kind, channel, payload)
        connection.consumed(at)
        self._release()

    def _acks(self, connection: Connection, at: int) -> int:
        """Handle successive confirms, runs of tags together; return the position of their end."""
        now_ns, current, first, last = connection.read_ns[-1], 0, 1, 0
        while connection.have - at >= CONFIRM.size:
            kind, channel, _, *which, tag, multiple, _ = CONFIRM.unpack_from(connection.buffer, at)
            if kind != codec.METHOD or (*which,) != codec.ACK:
                break
            if multiple or channel != current or tag != last + 1:
                self._confirm(current, first, last, now_ns)
                current, first = channel, 0 if multiple else tag
            last = tag
            at += CONFIRM.size
        self._confirm(current, first, last, now_ns)
        return at

    def _confirm(self, channel: int, first: int, last: int, now_ns: int) -> None:
        if first <= last:
            self.publishers[channel - 1].confirm(first, last, good=True, now_ns=now_ns)

    def _other(self, connection: Connection, kind: int, channel: int, payload: bytes) -> None:
        """Handle a frame that is not a confirm."""
        if kind == codec.HEARTBEAT_TYPE:
            return
        which = codec.which(payload) if kind == codec.METHOD else None
        if which in {codec.RETURN, None}:
            if (whole := self.assembler.take(kind, channel, payload)) is not None:
                self._returned(channel, *whole)
            return
        if which == codec.NACK:
            reader = Reader(payload)
            tag = reader.number("Q")
            first = 0 if reader.number("B") & 1 else tag
            publisher, now_ns = self.publishers[channel - 1], connection.read_ns[-1]
            refused = publisher.confirm(first, tag, good=False, now_ns=now_ns)
            self.diary.count("refused", refused)
            return
        if which == codec.SELECT_OK:
            self.unanswered.discard(channel)
            self.answered_ns = connection.read_ns[-1]
            return
        connection.attend(channel, payload)
        if which == codec.FLOW:
            self.publishers[channel - 1].paused = not payload[4]
            self.diary.happened("flow", active=bool(payload[4]))
        if which == codec.BLOCKED:
            self.diary.happened("blocked", why=Reader(payload).short().decode(errors="replace"))
        if which == codec.UNBLOCKED:
            self.diary.happened("unblocked")

    def lingers(self, now_ns: int) -> bool:
        """Whether the broker may still be passing messages to queues, after all were sent.

        The first call sends ``confirm.select`` on every channel, answered after all its messages.
        """
        if self.connection is None:
            return False
        if not self.answered_ns:
            self.answered_ns = now_ns
            self.unanswered = {*range(1, len(self.publishers) + 1)}
            try:
                for channel in self.unanswered:
                    self.connection.send(codec.method(channel, codec.SELECT, b"\0"))
            except Lost as error:
                self.lost(error)
                return False
            self.watch()
        return bool(self.unanswered) or now_ns < self.answered_ns + LINGER_S * NS

    def _returned(self, channel: int, _method: bytes, header: bytes, body: bytes) -> None:
        """Record a message that no queue took."""
        stamp = stamp_of(header, body, in_body=self.orders.in_body)
        publisher = self.publishers[channel - 1]
        self.diary.count("returned")
        numbers, due = stamp["number"].astype(np.int64), stamp["due_ns"] / NS
        publisher.add("error", numbers, due, time.time())


class Publisher(Client[Channels]):
    """All connections of a client process, from connecting to the last confirm."""

    def __init__(self, orders: Orders, control: Control, record: Record, diary: Diary) -> None:
        self.orders, self.diary = orders, diary
        waiting, self.send_queue = Waiting(exact=True), SendQueue()
        self.publishers = [PublisherThread(orders, thread, record) for thread in orders.threads]
        channels = [
            Channels(orders, share, self.send_queue, waiting, diary)
            for share in shares(self.publishers, orders.channels)
        ]
        super().__init__(orders, control, ManagedConnections(waiting, channels), self.publishers)
        self.connection_of = {
            publisher: managed for managed in channels for publisher in managed.publishers
        }

    def run(self, start: float) -> None:
        """Publish from the agreed start on, and count the messages that were never confirmed."""
        try:
            super().run(start)
        finally:
            for publisher in self.publishers:
                publisher.record_sent()
        if self.orders.confirms:
            unconfirmed = sum(each.unconfirmed + each.waiting for each in self.publishers)
            self.diary.count("unconfirmed", unconfirmed)

    def begin(self, start_ns: int) -> None:
        """Begin all schedules, and rebuild the send queue, which was filled without schedules."""
        super().begin(start_ns)
        self.send_queue.entries.clear()
        for publisher in self.publishers:
            self.send_queue.add(publisher.next_due_ns(), publisher)
        for managed in self.connections.all:
            managed.held.clear()

    def send(self, now_ns: int) -> None:
        """Let every publisher send that is due by now."""
        while (publisher := self.send_queue.take(now_ns)) is not None:
            managed = self.connection_of[publisher]
            self.connections.try_on(managed, partial(managed.publish, publisher, now_ns))

    def next_ns(self) -> int | None:
        """When the first of the publishers that can send is due."""
        return self.send_queue.next_ns

    @property
    def busy(self) -> bool:
        """Whether anything is still to be sent or confirmed.

        Without confirms, whether messages could still be lost with their channels.
        """
        if self.orders.confirms or super().busy:
            return super().busy or any(publisher.waiting for publisher in self.publishers)
        lingering = [managed.lingers(time.time_ns()) for managed in self.connections.all]
        return any(lingering)

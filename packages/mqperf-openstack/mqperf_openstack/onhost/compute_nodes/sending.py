"""A client, which sends every message when it is due, on a connection of each node.

Few messages are sent on each of many connections, so messages are not handled in blocks.
"""

import heapq
import struct
import time
from collections import deque
from dataclasses import dataclass
from functools import partial

import numpy as np

from mqperf.onhost.load.control import Control
from mqperf_amqp_0_9_1.onhost import codec
from mqperf_amqp_0_9_1.onhost.codec import Reader
from mqperf_amqp_0_9_1.onhost.connection import Connection
from mqperf_numbered.onhost.curves import Steady
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.managed_connections import ManagedConnection, ManagedConnections
from mqperf_numbered.onhost.record import Record
from mqperf_numbered.onhost.roles import Client
from mqperf_numbered.onhost.schedule import NS, Schedule
from mqperf_numbered.onhost.waiting import Waiting
from mqperf_openstack.onhost.compute_nodes.closing import close_all
from mqperf_openstack.onhost.compute_nodes.orders import Flow, Orders

CHANNEL = 1
FAREWELL_S = 5.0

STAMP = struct.Struct("<IIqqq")
"""A stamp as ``numbered.stamps`` reads it: run, sender, number, when due, when sent."""


@dataclass(frozen=True, slots=True)
class Due:
    """A message of a flow that is to be sent."""

    flow: Flow
    number: int
    due_ns: int


@dataclass(frozen=True, slots=True)
class Begun:
    """A message passed to the connection; ``until`` is its end among the connection's bytes."""

    message: Due
    sent_ns: int
    until: int


class NodeConnection(ManagedConnection[Connection]):
    """A connection with one channel in confirm mode, as oslo.messaging has it.

    Confirms are awaited only before the close, as messages on their way to a quorum queue may be
    lost with the channel.  ``unconfirmed`` has the delivery tags of messages without a confirm.
    """

    def __init__(self, orders: Orders, record: Record, waiting: Waiting, diary: Diary) -> None:
        super().__init__(waiting, diary, partial(Connection, orders.broker))
        self.orders, self.record = orders, record
        self.due: deque[Due] = deque()
        self.begun: deque[Begun] = deque()
        self.published = 0
        self.unconfirmed: set[int] = set()

    def send(self) -> None:
        """Send the messages that are due, until the socket is full."""
        connection = self.connection
        if connection is None or connection.blocked:
            return
        while self.due and connection.drained:
            message, sent_ns = self.due.popleft(), time.time_ns()
            queued = connection.queued
            frames = self._frames(message, sent_ns, connection.frame_max)
            self.begun.append(Begun(message, sent_ns, queued + len(frames)))
            self.published += 1
            self.unconfirmed.add(self.published)
            connection.send(frames)
            self._count(connection)

    def prepare(self, connection: Connection) -> None:
        """Open the channel, and select confirms."""
        connection.open_channel(CHANNEL)
        connection.call(CHANNEL, codec.SELECT, b"\0")
        self.published = 0
        self.unconfirmed.clear()

    def settle(self) -> None:
        """Count sent messages; those not sent whole are due again: the connection may be lost."""
        if self.connection is not None:
            self._count(self.connection)
            if not self.connection.drained:
                self.due.extendleft(begun.message for begun in reversed(self.begun))
                self.begun.clear()

    def _count(self, connection: Connection) -> None:
        while self.begun and self.begun[0].until <= connection.sent:
            begun = self.begun.popleft()
            flow, message = begun.message.flow, begun.message
            copies = np.arange(1, flow.copies + 1) if flow.copies else np.zeros(1, np.int64)
            senders = self.orders.place(flow.number) + copies
            numbers = np.full(len(senders), message.number)
            sent_s = begun.sent_ns / NS
            self.record.add("sent", senders, numbers, sent_s)
            self.record.add("handover", senders, numbers, message.due_ns / NS, sent_s)

    def _frames(self, message: Due, sent_ns: int, frame_max: int) -> bytes:
        """Return the frames of a message; transient, as oslo.messaging's queues by default."""
        flow = message.flow
        number = message.number
        stamp = STAMP.pack(self.orders.run, flow.number, number, message.due_ns, sent_ns)
        properties = codec.Properties(
            content_type="application/json",
            content_encoding="utf-8",
            headers={},
            message_id=stamp,
        )
        published = codec.publish(flow.exchange, flow.routing_key, mandatory=False)
        body = self.orders.bodies[flow.body].encode()
        return codec.method(CHANNEL, codec.PUBLISH, published) + codec.content(
            CHANNEL, properties.encode(), body, frame_max
        )

    def read(self, connection: Connection) -> None:
        """Handle all complete frames."""
        at = 0
        while (frame := connection.frame(at)) is not None:
            kind, channel, payload = frame
            at += len(payload) + codec.OVERHEAD
            if kind == codec.METHOD:
                self._handle_method(connection, channel, payload)
        connection.consumed(at)

    def _handle_method(self, connection: Connection, channel: int, payload: bytes) -> None:
        method = codec.which(payload)
        if method == codec.NACK:
            self.diary.count("not-confirmed")
        if method in {codec.ACK, codec.NACK}:
            self._settle_confirm(Reader(payload))
        else:
            connection.attend(channel, payload)
        if method == codec.BLOCKED:
            self.diary.happened("blocked", why=Reader(payload).short().decode(errors="replace"))
        if method == codec.UNBLOCKED:
            self.diary.happened("unblocked")

    def _settle_confirm(self, confirm: Reader) -> None:
        tag = confirm.number("Q")
        if confirm.number("B") & 1:  # multiple: all up to this tag
            self.unconfirmed = {other for other in self.unconfirmed if other > tag}
        else:
            self.unconfirmed.discard(tag)


@dataclass(order=True, slots=True)
class Next:
    """The instant at which a flow's next message is due; ordered by it."""

    due_ns: int
    flow_number: int
    number: int


class Senders(Client[NodeConnection]):
    """The connections of a process."""

    tick_ns = 0

    def __init__(self, orders: Orders, control: Control, record: Record, diary: Diary) -> None:
        self.diary, waiting, self.coming = diary, Waiting(exact=True), list[Next]()
        nodes = [NodeConnection(orders, record, waiting, diary) for _ in orders.senders]
        super().__init__(orders, control, ManagedConnections(waiting, nodes))
        self.of_flow = {
            flow.number: (node, flow, Schedule(Steady(flow.rate), flow.phase))
            for node, flows in zip(nodes, orders.senders, strict=True)
            for flow in flows
        }

    def begin(self, start_ns: int) -> None:
        """Schedule the first message of every flow."""
        for number, (_, _, schedule) in self.of_flow.items():
            schedule.begin(start_ns)
            self.coming.append(Next(schedule.instant_ns(0), number, 0))
        heapq.heapify(self.coming)

    def send(self, now_ns: int) -> None:
        """Send all that is due by now, and what waits for its connection."""
        coming = self.coming
        while coming[0].due_ns <= now_ns:
            first = coming[0]
            node, flow, schedule = self.of_flow[first.flow_number]
            node.due.append(Due(flow, first.number, first.due_ns))
            number = first.number + 1
            heapq.heapreplace(coming, Next(schedule.instant_ns(number), first.flow_number, number))
            self.connections.try_on(node, node.send)
        self._send_rest()

    def next_ns(self) -> int:
        """Return the instant at which the next message is due."""
        return self.coming[0].due_ns

    def finish(self) -> None:
        """Send what is due and await confirms, up to the plan's timeout; then close connections."""
        limit = time.monotonic() + self.timeout_s
        while self.busy and time.monotonic() < limit and not self.control.stopping:
            self._send_rest()
            self.attend()
        drained = []
        for node in self.connections.all:
            node.settle()
            self.diary.count("never-sent", len(node.due))
            if node.connection is not None and node.connection.drained:
                drained.append(node.connection)
            else:  # an orderly close would send the rest of what was just counted as never sent
                node.close(0.0, at_once=True)
        for _ in range(close_all(drained, FAREWELL_S)):
            self.diary.happened("cut-off")

    def _send_rest(self) -> None:
        for node in self.connections.all:
            if node.due:
                self.connections.try_on(node, node.send)

    @property
    def busy(self) -> bool:
        """Whether anything is still to be sent or confirmed."""
        return super().busy or any(
            node.due or (node.connection is not None and node.unconfirmed)
            for node in self.connections.all
        )

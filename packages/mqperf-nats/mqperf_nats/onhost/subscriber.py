"""A server: hears the subjects of its threads, or consumes their streams; accounts for all."""

from functools import partial

import numpy as np

from mqperf.onhost.load.control import Control
from mqperf_nats.onhost import codec, streams
from mqperf_nats.onhost.codec import Messages
from mqperf_nats.onhost.connection import (
    ANSWERS,
    CONSUMER,
    DELIVERIES,
    NO_LEADER,
    Connection,
    problem,
)
from mqperf_nats.onhost.orders import Orders, Thread
from mqperf_numbered.onhost import stamps
from mqperf_numbered.onhost.arrivals import Arrivals
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.managed_connections import (
    Handlers,
    Lost,
    ManagedConnection,
    ManagedConnections,
    Refused,
)
from mqperf_numbered.onhost.record import Record
from mqperf_numbered.onhost.roles import Late, Server
from mqperf_numbered.onhost.schedule import NS
from mqperf_numbered.onhost.waiting import Waiting


class Inlet(ManagedConnection[Connection]):
    """The connection of a subject; ``next`` is the message of a stream that it continues with."""

    def __init__(
        self, orders: Orders, thread: Thread, server: "Subscriber", waiting: Waiting, diary: Diary
    ) -> None:
        self.orders, self.subject, self.server, self.next = orders, thread.subject, server, 1
        connect = partial(Connection, orders.broker)
        super().__init__(
            waiting,
            diary,
            Handlers(connect, self._prepare, lambda _: True, self._read, lambda: None),
        )

    def _prepare(self, connection: Connection) -> None:
        """Listen; to a stream, make it unless it is there, and consume if it is time."""
        self.on = connection
        streams.make(connection, self.orders, self.subject)
        kept = self.orders.storage is not None
        subject = streams.deliveries(connection) if kept else self.subject
        connection.send(codec.subscribe(subject, DELIVERIES))
        connection.reached()
        if kept and self.server.consuming:
            self.consume()

    def consume(self) -> None:
        """Consume the stream; messages may come before the answer, which nobody waits for."""
        self.on.send(streams.consuming(self.on, self.orders, self.subject, self.next))
        self.watch()

    def _read(self, connection: Connection) -> None:
        content, ends, replies = list[bytes](), list[int](), list[bytes]()
        for block in connection.messages():
            if block.subscription == ANSWERS:
                if block.subject.endswith(CONSUMER.encode()):
                    _consumes(connection.body(block))
                continue
            content.append(stamps_of(connection.buffer, block))
            ends.extend(block.ends)
            if block.reply is not None:
                replies.append(block.reply)
        if content:
            stamp = np.frombuffer(b"".join(content), stamps.STAMP)
            now = connection.arrived_ns(np.array(ends)) / NS
            self.server.arrivals.take(stamp, stamp["sender"].astype(np.int64), now)
        connection.forget()
        self._acknowledge(connection, replies)

    def _acknowledge(self, connection: Connection, replies: list[bytes]) -> None:
        if not replies or self.orders.storage is None:
            return
        self.next = max(self.next, streams.number(replies[-1]) + 1)
        wanted = replies if self.orders.acks == "each" else replies[-1:]
        connection.send(b"".join(codec.publish(reply, codec.ACK) for reply in wanted))
        self.watch()


def _consumes(answer: bytes) -> None:
    """Raise ``Lost``, or ``Refused``, unless the answer says that there is a consumer."""
    code, why = problem(answer)
    if code:
        raise (Lost if code >= NO_LEADER else Refused)(f"no consumer: {why}")


def stamps_of(buffer: bytearray, block: Messages) -> bytes:
    """The stamps of messages; of no run for those that have none."""
    if block.size < stamps.SIZE:
        return bytes(stamps.SIZE * block.rows)
    return np.ndarray(block.rows, stamps.STAMP, buffer, block.at, (block.unit,)).tobytes()


class Subscriber(Server[Inlet]):
    """All connections of a process, from the first subscription to the end of the drain."""

    def __init__(self, orders: Orders, control: Control, record: Record, diary: Diary) -> None:
        waiting = Waiting(exact=False)
        inlets = [Inlet(orders, thread, self, waiting, diary) for thread in orders.threads]
        arrivals = Arrivals(record, orders.run, paced=orders.paced, limits_s=orders.limits_s)
        after_s = orders.consume_after_s
        late = None if after_s is None else Late(after_s, Inlet.consume, diary)
        super().__init__(control, ManagedConnections(waiting, inlets), arrivals, late=late)

    def run(self, start: float) -> None:
        """Receive until told to stop."""
        self.attend_until_stop(start)
        for managed in self.connections.all:
            if managed.connection is not None:
                managed.connection.close(1.0)

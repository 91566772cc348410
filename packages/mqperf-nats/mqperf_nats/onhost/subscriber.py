"""A server: subscribes to the subjects of its threads, or consumes their streams."""

from functools import partial

import numpy as np

from mqperf_nats.onhost import codec, streams
from mqperf_nats.onhost.codec import Messages
from mqperf_nats.onhost.connection import CONSUMER, DELIVERIES, Connection, problem
from mqperf_nats.onhost.orders import Orders
from mqperf_numbered.onhost import stamps
from mqperf_numbered.onhost.consumer import Consumer
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.managed_connections import ManagedConnection
from mqperf_numbered.onhost.orders import Thread
from mqperf_numbered.onhost.schedule import NS
from mqperf_numbered.onhost.waiting import Waiting


class Inlet(ManagedConnection[Connection]):
    """The connection of a subject; ``next`` is the next message to consume of a stream."""

    def __init__(
        self, orders: Orders, thread: Thread, server: Consumer, waiting: Waiting, diary: Diary
    ) -> None:
        self.orders, self.subject, self.server, self.next = orders, thread.address, server, 1
        super().__init__(waiting, diary, partial(Connection, orders.broker))

    def prepare(self, connection: Connection) -> None:
        """Subscribe; for a stream, create it if it is missing, and consume if it is time."""
        self.on, subject = connection, self.subject
        if self.orders.stream is not None:
            streams.make(connection, self.orders, self.subject)
            connection.last_words = codec.request("STREAM.DELETE", self.subject, {}, b"removed")
            subject = connection.deliveries
        connection.send(codec.subscribe(subject, DELIVERIES))
        connection.reached()
        if self.server.consuming:
            self.consume()

    def consume(self) -> None:
        """Consume the stream, without waiting for the answer, as messages may come before it."""
        if self.orders.stream is not None:
            self.on.send(streams.consuming(self.on, self.orders, self.subject, self.next))
            self.watch()

    def read(self, connection: Connection) -> None:
        """Record the messages that have come, and acknowledge those of streams.

        Messages before the line that ends the connection count, as they are not sent again.
        """
        blocks = list[Messages]()
        for block in connection.messages():
            if block.subscription == DELIVERIES:
                blocks.append(block)
            elif block.subject.endswith(CONSUMER) and (error := problem(connection.body(block))):
                raise error
        if blocks:
            content = b"".join(
                stamps.within(connection.buffer, block.at, block.size, block.unit, block.rows)
                for block in blocks
            )
            stamp = np.frombuffer(content, stamps.STAMP)
            ends = np.array([end for block in blocks for end in block.ends])
            now = connection.arrived_ns(ends) / NS
            self.server.arrivals.take(stamp, stamp["sender"].astype(np.int64), now)
        replies = [block.reply for block in blocks if block.reply is not None]
        of_stream = bool(replies) and self.orders.stream is not None
        if of_stream:
            self.next = max(self.next, streams.number(replies[-1]) + 1)
        connection.forget()
        if of_stream:
            to_ack = replies if self.orders.acks == "each" else replies[-1:]
            connection.send(b"".join(codec.publish(reply, codec.ACK) for reply in to_ack))
            self.watch()

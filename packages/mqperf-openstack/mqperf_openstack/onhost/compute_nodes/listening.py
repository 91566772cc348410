"""A server, which consumes the queues of each node or controller on a connection of its own."""

import time
from functools import partial

import numpy as np

from mqperf.onhost.load.control import Control
from mqperf_amqp_0_9_1.onhost import codec
from mqperf_amqp_0_9_1.onhost.connection import Connection
from mqperf_amqp_0_9_1.onhost.consumer import acks
from mqperf_amqp_0_9_1.onhost.deliveries import Batch, Deliveries
from mqperf_numbered.onhost.arrivals import Arrivals
from mqperf_numbered.onhost.broker import Refused
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.managed_connections import ManagedConnection, ManagedConnections
from mqperf_numbered.onhost.record import Numbers, Record
from mqperf_numbered.onhost.roles import Server
from mqperf_numbered.onhost.schedule import NS
from mqperf_numbered.onhost.waiting import Waiting
from mqperf_openstack.onhost.compute_nodes.closing import close_all
from mqperf_openstack.onhost.compute_nodes.orders import Box, Orders


class NodeListener(ManagedConnection[Connection]):
    """A connection with a channel and a consumer for each of its queues."""

    def __init__(
        self,
        orders: Orders,
        boxes: tuple[Box, ...],
        server: "Listeners",
        waiting: Waiting,
        diary: Diary,
    ) -> None:
        super().__init__(waiting, diary, partial(Connection, orders.broker))
        self.orders, self.boxes, self.server = orders, boxes, server
        self.copy = np.array([box.copy for box in boxes], dtype=np.int64)

    def prepare(self, connection: Connection) -> None:
        """Declare all queues, exchanges and bindings, and consume."""
        self.on = connection
        self.deliveries = Deliveries(connection, self._take, self._other, in_body=False)
        for channel, box in enumerate(self.boxes, 1):
            connection.open_channel(channel)
            self._declare(connection, channel, box)
        for channel, box in enumerate(self.boxes, 1):
            # deliveries may come before consume-ok and are handled then, so it is not awaited
            arguments = codec.consume(box.queue, no_ack=False)
            connection.send(codec.method(channel, codec.CONSUME, arguments))

    def _declare(self, connection: Connection, channel: int, box: Box) -> None:
        """Declare a queue, its exchange and a binding; the default exchange needs no binding."""
        queue = codec.queue_declare(box.queue, self.orders.queue_arguments, durable=True)
        connection.call(channel, codec.QUEUE_DECLARE, queue)
        if not box.exchange:
            return
        exchange = codec.exchange_declare(
            box.exchange, box.exchange_type, durable=True, auto_delete=True
        )
        connection.call(channel, codec.EXCHANGE_DECLARE, exchange)
        binding = codec.queue_bind(box.queue, box.exchange, box.routing_key)
        connection.call(channel, codec.QUEUE_BIND, binding)

    def read(self, _connection: Connection) -> None:
        """Handle all complete frames."""
        self.deliveries.read()

    def _take(self, batch: Batch) -> None:
        """Count deliveries, and acknowledge each, as oslo.messaging does."""
        self.server.take(batch, self.copy[batch.channel - 1])
        self.on.send(acks(batch, multiple=False))

    def _other(self, channel: int, payload: bytes) -> None:
        if codec.which(payload) == codec.CANCEL:
            queue = self.boxes[channel - 1].queue
            raise Refused(f"the broker cancelled the consumer of queue {queue}")
        self.on.attend(channel, payload)


class Listeners(Server[NodeListener]):
    """The connections of a process, from the first declaration to the end of the drain."""

    def __init__(self, orders: Orders, control: Control, record: Record, diary: Diary) -> None:
        self.orders, waiting = orders, Waiting(exact=False)
        listeners = [NodeListener(orders, boxes, self, waiting, diary) for boxes in orders.boxes]
        connections, arrivals = ManagedConnections(waiting, listeners), Arrivals(record, orders)
        super().__init__(control, connections, arrivals, diary)

    def run(self, start: float) -> None:
        """Consume until the stop signal."""
        self.attend_until_stop(start)
        close_all(
            [
                listener.connection
                for listener in self.connections.all
                if listener.connection is not None
            ],
            1.0,
        )

    def take(self, batch: Batch, copy: Numbers) -> None:
        """Record deliveries; ``copy`` is the number of each among the copies of a fan-out."""
        place = self.orders.place(1) * batch.stamp["sender"].astype(np.int64) + copy
        self.arrivals.take(batch.stamp, place, time.time_ns() / NS)

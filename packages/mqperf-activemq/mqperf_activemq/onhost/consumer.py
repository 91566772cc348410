"""A server, which consumes the queues of its threads and records every message that arrives."""

from functools import partial

import numpy as np

from mqperf_activemq.onhost.orders import Orders
from mqperf_activemq.onhost.protocols import PROTOCOLS
from mqperf_activemq.onhost.wire import Wire
from mqperf_numbered.onhost.consumer import Consumer
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.managed_connections import ManagedConnection
from mqperf_numbered.onhost.orders import Thread
from mqperf_numbered.onhost.waiting import Waiting


class Inlet(ManagedConnection[Wire]):
    """The connection that consumes a queue."""

    def __init__(
        self, orders: Orders, thread: Thread, server: Consumer, waiting: Waiting, diary: Diary
    ) -> None:
        self.server = server
        super().__init__(
            waiting, diary, partial(PROTOCOLS[orders.protocol], orders, thread.address)
        )

    def prepare(self, connection: Wire) -> None:
        """Subscribe to the queue."""
        connection.consume()

    def read(self, connection: Wire) -> None:
        """Count the messages that have arrived, and acknowledge them."""
        stamps, instants, acks = connection.arrived()
        if len(stamps):
            self.server.arrivals.take(stamps, stamps["sender"].astype(np.int64), instants)
        if acks:
            connection.send(acks)
            self.watch()

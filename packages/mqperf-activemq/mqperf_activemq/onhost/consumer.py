"""A server: consumes the queues of its threads, and accounts for all that comes."""

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
    """The connection of a queue."""

    def __init__(
        self, orders: Orders, thread: Thread, server: Consumer, waiting: Waiting, diary: Diary
    ) -> None:
        self.server = server
        super().__init__(
            waiting, diary, partial(PROTOCOLS[orders.protocol], orders, thread.address)
        )

    def prepare(self, connection: Wire) -> None:
        """Ask for the messages of the queue."""
        connection.consume()

    def read(self, connection: Wire) -> None:
        """Count the messages that have come, and acknowledge them."""
        come = connection.come()
        if len(come.stamp):
            self.server.arrivals.take(come.stamp, come.stamp["sender"].astype(np.int64), come.at)
        if come.acks:
            connection.send(come.acks)
            self.watch()

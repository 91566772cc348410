"""A client: several publishing threads, each with a connection and a queue."""

import time
from functools import partial

import numpy as np

from mqperf_activemq.onhost.orders import Orders
from mqperf_activemq.onhost.protocols import PROTOCOLS
from mqperf_activemq.onhost.wire import Wire
from mqperf_numbered.onhost import publisher
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.orders import Thread
from mqperf_numbered.onhost.publisher_thread import PublisherThread
from mqperf_numbered.onhost.record import Record
from mqperf_numbered.onhost.waiting import Waiting


class Outlet(publisher.Outlet[Wire]):
    """The connection of a publishing thread."""

    def __init__(
        self, orders: Orders, thread: Thread, record: Record, waiting: Waiting, diary: Diary
    ) -> None:
        protocol = PROTOCOLS[orders.protocol]
        self.rows = protocol.rows(orders, thread.address)
        publishing = PublisherThread(orders, thread.number, orders.confirms, record, self.rows)
        super().__init__(publishing, waiting, diary, partial(protocol, orders, thread.address))

    def prepare(self, connection: Wire) -> None:
        """Prepare the connection, and let the thread send on it from now on."""
        connection.publish()
        self.rows.called(connection.name.encode())
        self.thread.attach(connection)

    def read(self, connection: Wire) -> None:
        """Count the messages that were confirmed or refused."""
        now_ns = time.time_ns()
        confirmed, refused = connection.outcomes()
        if len(confirmed):
            self.thread.ended("confirmed", confirmed, now_ns)
        for number, why in refused:
            self.diary.happened("refused", why=why)
            self.thread.ended("error", np.array([number]), now_ns)

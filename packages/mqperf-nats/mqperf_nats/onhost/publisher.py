"""A client: several threads, each with a connection and a subject, that publish."""

import time
from functools import partial

import numpy as np

from mqperf_nats.onhost import streams
from mqperf_nats.onhost.connection import Connection, problem
from mqperf_nats.onhost.orders import Orders
from mqperf_nats.onhost.rows import Rows
from mqperf_numbered.onhost import publisher
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.orders import Thread
from mqperf_numbered.onhost.publisher_thread import PublisherThread
from mqperf_numbered.onhost.record import Record
from mqperf_numbered.onhost.waiting import Waiting


class Outlet(publisher.Outlet[Connection]):
    """The connection of a publishing thread."""

    def __init__(
        self, orders: Orders, thread: Thread, record: Record, waiting: Waiting, diary: Diary
    ) -> None:
        self.orders, self.subject, self.rows = orders, thread.address, Rows(orders, thread.address)
        publishing = PublisherThread(orders, thread.number, orders.confirms, record, self.rows)
        publishing.patience_s = orders.timeout_s  # messages may be lost with a stream's leader
        super().__init__(publishing, waiting, diary, partial(Connection, orders.broker))

    def prepare(self, connection: Connection) -> None:
        """Create the stream if it is missing."""
        streams.make(connection, self.orders, self.subject)
        self.rows.confirmed_to(connection.inbox)
        self.thread.attach(connection)

    def read(self, connection: Connection) -> None:
        """Record confirms: answers whose subjects end with the numbers of messages.

        Confirms before the line that ends the connection count, too.
        """
        now_ns = time.time_ns()
        ended: dict[str, list[int]] = {"confirmed": [], "error": []}
        for block in connection.messages():
            number = block.subject.rpartition(b".")[2]
            if not number.isdigit():
                continue  # the late answer to a call
            error = problem(connection.body(block))
            ended["confirmed" if error is None else "error"].append(int(number))
            if error is not None:
                self.diary.happened("refused", why=str(error))
        for stream, numbers in ended.items():
            if numbers:
                self.thread.ended(stream, np.array(numbers), now_ns)
        connection.forget()

"""A client: several threads, each with a connection and a subject, that publish."""

import time
from functools import partial

import numpy as np

from mqperf.onhost.load.control import Control
from mqperf_nats.onhost import streams
from mqperf_nats.onhost.connection import Connection, problem
from mqperf_nats.onhost.orders import Orders, Thread
from mqperf_nats.onhost.rows import Rows
from mqperf_numbered.onhost import publisher
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.managed_connections import Handlers, ManagedConnections
from mqperf_numbered.onhost.publisher_thread import PublisherThread
from mqperf_numbered.onhost.record import Record
from mqperf_numbered.onhost.waiting import Waiting


class Outlet(publisher.Outlet[Connection]):
    """The connection of a thread."""

    def __init__(
        self, orders: Orders, thread: Thread, record: Record, waiting: Waiting, diary: Diary
    ) -> None:
        self.orders, self.subject, self.rows = orders, thread.subject, Rows(orders, thread)
        publishing = PublisherThread(orders, thread.number, orders.window, record, self.rows)
        publishing.patience_s = orders.timeout_s  # nobody tells what is lost with a stream's leader
        connect = partial(Connection, orders.broker)
        handlers = Handlers(connect, self._prepare, lambda _: True, self._read, publishing.settle)
        super().__init__(publishing, waiting, diary, handlers)

    def _prepare(self, connection: Connection) -> None:
        """Make the stream unless it is there."""
        streams.make(connection, self.orders, self.subject)
        self.rows.confirmed_to(connection.inbox)
        self.thread.attach(connection)

    def _read(self, connection: Connection) -> None:
        """Confirms are answers to messages, whose numbers their subjects end with."""
        ended: dict[str, list[int]] = {"confirmed": [], "error": []}
        now_ns = time.time_ns()
        for block in connection.messages():
            number = block.subject.rpartition(b".")[2]
            if not number.isdigit():
                continue  # a call that was not waited for
            code, why = problem(connection.body(block))
            ended["error" if code else "confirmed"].append(int(number))
            if code:
                self.diary.happened("refused", why=why)
        connection.forget()
        for stream, numbers in ended.items():
            if numbers:
                self.thread.ended(stream, np.array(numbers), now_ns)


class Publisher(publisher.Publisher):
    """All connections of a process."""

    def __init__(self, orders: Orders, control: Control, record: Record, diary: Diary) -> None:
        waiting = Waiting(exact=True)
        outlets = [Outlet(orders, thread, record, waiting, diary) for thread in orders.threads]
        super().__init__(orders, control, diary, ManagedConnections(waiting, outlets))

"""A client: several threads, each with a connection and a stream, that publish."""

import time
from functools import cache, partial

import numpy as np

from mqperf_numbered.onhost import publisher
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.orders import Thread
from mqperf_numbered.onhost.publisher_thread import PublisherThread
from mqperf_numbered.onhost.record import Record
from mqperf_numbered.onhost.waiting import Waiting
from mqperf_streams.onhost import codec
from mqperf_streams.onhost.connection import Connection
from mqperf_streams.onhost.frames import Frames
from mqperf_streams.onhost.orders import Orders
from mqperf_streams.onhost.partitioned_thread import PartitionedThread
from mqperf_streams.onhost.routes import Routes

ERRORS = np.dtype([("number", ">u8"), ("code", ">u2")])
LIST_AT = 5
"""The offset of the list in a frame of confirms or errors: after publisher and count."""


_routes = cache(Routes)
"""The routes of all threads."""


class Outlet(publisher.Outlet[Connection]):
    """The connection of a publishing thread."""

    def __init__(
        self, orders: Orders, thread: Thread, record: Record, waiting: Waiting, diary: Diary
    ) -> None:
        self.stream, self.partitions = thread.address, orders.partitions
        frames = Frames(orders, _routes(orders.partitions))
        if orders.partitions == 1:
            publishing = PublisherThread(orders, thread.number, orders.confirms, record, frames)
        else:
            publishing = PartitionedThread(orders, thread.number, record, frames)
        super().__init__(publishing, waiting, diary, partial(Connection, orders.broker))

    def prepare(self, connection: Connection) -> None:
        """Create the stream if it is missing, and an unnamed publisher for each partition."""
        for number, stream in enumerate(connection.streams(self.stream, self.partitions)):
            declaration = bytes([number]) + codec.string("") + codec.string(stream)
            connection.prepared(stream, codec.DECLARE_PUBLISHER, declaration)
        self.thread.attach(connection)

    def read(self, connection: Connection) -> None:
        """Record the messages that were confirmed or refused."""
        at, now_ns = 0, time.time_ns()
        while (frame := connection.frame(at)) is not None:
            key, payload, at = frame
            if key == codec.CONFIRM:
                numbers = np.frombuffer(payload, ">u8", offset=LIST_AT).astype(np.int64)
                self.thread.ended("confirmed", numbers, now_ns)
            elif key == codec.ERROR:
                failed = np.frombuffer(payload, ERRORS, offset=LIST_AT)
                self.thread.ended("error", failed["number"].astype(np.int64), now_ns)
                self.diary.count("refused", len(failed))
            else:
                connection.attend(key, payload)
        connection.consumed(at)

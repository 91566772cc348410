"""A client: several threads, each with a connection and a stream, that publish."""

import time
from functools import partial

import numpy as np

from mqperf_numbered.onhost import publisher
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.managed_connections import Handlers
from mqperf_numbered.onhost.orders import Thread
from mqperf_numbered.onhost.publisher_thread import PublisherThread
from mqperf_numbered.onhost.record import Record
from mqperf_numbered.onhost.waiting import Waiting
from mqperf_streams.onhost import codec
from mqperf_streams.onhost.connection import Connection
from mqperf_streams.onhost.frames import Frames
from mqperf_streams.onhost.orders import Orders

ERRORS = np.dtype([("number", ">u8"), ("code", ">u2")])
LIST_AT = 5
"""Where the list begins in a frame of confirms, or of errors: behind publisher and count."""


class Outlet(publisher.Outlet[Connection]):
    """The connection of a thread."""

    def __init__(
        self, orders: Orders, thread: Thread, record: Record, waiting: Waiting, diary: Diary
    ) -> None:
        self.stream, frames = thread.address, Frames(orders)
        publishing = PublisherThread(orders, thread.number, orders.confirms, record, frames)
        connect = partial(Connection, orders.broker)
        handlers = Handlers(connect, self._prepare, self._read, publishing.settle)
        super().__init__(publishing, waiting, diary, handlers)

    def _prepare(self, connection: Connection) -> None:
        """Make the stream unless it is there, and a publisher without a name."""
        wanted = bytes([0]) + codec.string("") + codec.string(self.stream)
        connection.prepared(self.stream, codec.DECLARE_PUBLISHER, wanted)
        self.thread.attach(connection)

    def _read(self, connection: Connection) -> None:
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

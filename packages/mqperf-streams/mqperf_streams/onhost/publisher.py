"""A client: several threads, each with a connection and a stream, that publish."""

import time
from functools import partial

import numpy as np

from mqperf.onhost.load.control import Control
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.managed_connections import (
    Handlers,
    Lost,
    ManagedConnection,
    ManagedConnections,
)
from mqperf_numbered.onhost.record import Record
from mqperf_numbered.onhost.roles import CLIENT_IDLE_S, Client
from mqperf_numbered.onhost.schedule import NS, TICK_NS
from mqperf_numbered.onhost.waiting import Waiting
from mqperf_streams.onhost import codec
from mqperf_streams.onhost.connection import Connection
from mqperf_streams.onhost.orders import Orders
from mqperf_streams.onhost.publisher_thread import PublisherThread

ERRORS = np.dtype([("number", ">u8"), ("code", ">u2")])
LIST_AT = 5
"""Where the list begins in a frame of confirms, or of errors: behind publisher and count."""


class Outlet(ManagedConnection[Connection]):
    """The connection of a thread."""

    def __init__(
        self, orders: Orders, thread: PublisherThread, waiting: Waiting, diary: Diary
    ) -> None:
        self.thread = thread
        handlers = Handlers(
            partial(Connection, orders.broker),
            self._prepare,
            lambda _: True,
            self._read,
            thread.settle,
        )
        super().__init__(waiting, diary, handlers)

    def _prepare(self, connection: Connection) -> None:
        """Make the stream unless it is there, and a publisher without a name."""
        stream = self.thread.thread.stream
        wanted = bytes([0]) + codec.string("") + codec.string(stream)
        connection.prepared(stream, codec.DECLARE_PUBLISHER, wanted)
        self.thread.attach(connection)

    def publish(self, now_ns: int) -> None:
        """Send all that is due, or one block if there is no schedule."""
        connection = self.connection
        if connection is None:
            return
        while connection.drained and (count := self.thread.wanted(now_ns)) > 0:
            self.thread.send(count)
            if self.thread.schedule is None:
                break
        self.watch()

    @property
    def able(self) -> bool:
        """Whether more could be sent, if it were due."""
        connection = self.connection
        return connection is not None and connection.drained and not self.thread.held_back

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


class Publisher(Client[Outlet]):
    """All connections of a process, from the first connection to the last confirm."""

    def __init__(self, orders: Orders, control: Control, record: Record, diary: Diary) -> None:
        self.orders, self.diary = orders, diary
        waiting = Waiting(exact=True)
        self.publishers = [PublisherThread(orders, thread, record) for thread in orders.threads]
        outlets = [Outlet(orders, publisher, waiting, diary) for publisher in self.publishers]
        super().__init__(orders, control, ManagedConnections(waiting, outlets), self.publishers)

    def run(self, start: float) -> None:
        """Publish from the agreed start on until the load has ended, or a signal came."""
        start_ns, end_ns = self.span_ns(start)
        for publisher in self.publishers:
            if publisher.schedule is not None:
                publisher.schedule.begin(start_ns)
        self.await_start(start_ns)
        while (now_ns := time.time_ns()) < end_ns and not self.control.stopping:
            self._send(now_ns)
            end_ns = self.end_ns(now_ns, end_ns)
            self.connections.attend(self._pause_s(now_ns, end_ns))
        if self.orders.paced and not self.control.stopping:
            self._send(end_ns - 1)  # due between the last look and the end
        self.finish(lambda: self.pending or any(each.waiting for each in self.publishers))
        unconfirmed = sum(each.unconfirmed + each.waiting for each in self.publishers)
        self.diary.count("unconfirmed", unconfirmed)

    def _send(self, now_ns: int) -> None:
        for outlet in self.connections.all:
            try:
                outlet.publish(now_ns)
            except Lost as error:
                outlet.lost(error)

    def _pause_s(self, last_ns: int, end_ns: int) -> float:
        """How long nothing can be sent, or is due; with a schedule, at least to the next tick."""
        able = [outlet.thread for outlet in self.connections.all if outlet.able]
        if not able:
            return CLIENT_IDLE_S
        if not self.orders.paced:
            return 0.0
        next_ns = min(thread.next_due_ns() for thread in able)
        next_ns = min(max(next_ns, last_ns + TICK_NS), end_ns)
        return max(0.0, min(CLIENT_IDLE_S, (next_ns - time.time_ns()) / NS))

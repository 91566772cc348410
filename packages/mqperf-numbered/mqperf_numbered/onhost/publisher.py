"""A client whose threads publish, each on a connection of its own, and may wait for confirms."""

import time
from collections.abc import Callable
from typing import Any

from mqperf.onhost.load.control import Control
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.managed_connections import (
    C,
    Handlers,
    Lost,
    ManagedConnection,
    ManagedConnections,
)
from mqperf_numbered.onhost.orders import A, Thread
from mqperf_numbered.onhost.publisher_thread import PublisherThread
from mqperf_numbered.onhost.record import Record
from mqperf_numbered.onhost.roles import CLIENT_IDLE_S, Client
from mqperf_numbered.onhost.schedule import NS, TICK_NS
from mqperf_numbered.onhost.waiting import Waiting


class Outlet(ManagedConnection[C]):
    """The connection of a thread."""

    def __init__(
        self, thread: PublisherThread, waiting: Waiting, diary: Diary, handlers: Handlers[C]
    ) -> None:
        self.thread = thread
        super().__init__(waiting, diary, handlers)

    def publish(self, now_ns: int) -> None:
        """Send all that is due, or one block if there is no schedule; raises ``Lost``."""
        connection = self.connection
        if connection is None:
            return
        if self.thread.forgotten:
            raise Lost(f"none of {self.thread.waiting} messages was confirmed in time")
        if connection.drained:
            self.thread.settle()  # what else was sent may have taken the rest along
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


class Publisher(Client[Outlet[Any]]):
    """All connections of a process, from the first connection to the last confirm."""

    def __init__(
        self,
        outlet: Callable[[A, Thread, Record, Waiting, Diary], Outlet[Any]],
        orders: A,
        control: Control,
        record: Record,
        diary: Diary,
    ) -> None:
        self.orders, self.diary, waiting = orders, diary, Waiting(exact=True)
        outlets = [outlet(orders, thread, record, waiting, diary) for thread in orders.threads]
        self.publishers = [outlet.thread for outlet in outlets]
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

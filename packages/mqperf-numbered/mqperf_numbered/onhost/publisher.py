"""A client whose threads publish, each on a connection of its own, and may wait for confirms."""

from collections.abc import Callable
from functools import partial
from typing import Any

from mqperf.onhost.load.control import Control
from mqperf_numbered.onhost.broker import Lost
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.managed_connections import C, ManagedConnection, ManagedConnections
from mqperf_numbered.onhost.orders import A, Thread
from mqperf_numbered.onhost.publisher_thread import PublisherThread
from mqperf_numbered.onhost.record import Record
from mqperf_numbered.onhost.roles import Client
from mqperf_numbered.onhost.waiting import Waiting


class Outlet(ManagedConnection[C]):
    """The connection of a publishing thread."""

    def __init__(
        self, thread: PublisherThread, waiting: Waiting, diary: Diary, connect: Callable[[], C]
    ) -> None:
        self.thread = thread
        super().__init__(waiting, diary, connect)

    def settle(self) -> None:
        """Count how many of the last messages were handed over."""
        self.thread.settle()

    def publish(self, now_ns: int) -> None:
        """Send all that is due, or one block if there is no schedule; raises ``Lost``."""
        connection = self.connection
        if connection is None:
            return
        if self.thread.forgotten:
            raise Lost(f"none of {self.thread.waiting} messages was confirmed in time")
        if connection.drained:
            self.thread.settle()  # another write may have sent the rest of the last block
        while connection.drained and (count := self.thread.sendable(now_ns)) > 0:
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
    """All connections of a client process, from connecting to the last confirm."""

    def __init__(
        self,
        outlet: Callable[[A, Thread, Record, Waiting, Diary], Outlet[Any]],
        orders: A,
        control: Control,
        record: Record,
        diary: Diary,
    ) -> None:
        self.diary, waiting = diary, Waiting(exact=True)
        outlets = [outlet(orders, thread, record, waiting, diary) for thread in orders.threads]
        self.publishers = [outlet.thread for outlet in outlets]
        super().__init__(orders, control, ManagedConnections(waiting, outlets), self.publishers)

    def run(self, start: float) -> None:
        """Publish from the agreed start on, and count the messages that were never confirmed."""
        super().run(start)
        unconfirmed = sum(each.unconfirmed + each.waiting for each in self.publishers)
        self.diary.count("unconfirmed", unconfirmed)

    def send(self, now_ns: int) -> None:
        """Let every connection send what is due."""
        for outlet in self.connections.all:
            self.connections.try_on(outlet, partial(outlet.publish, now_ns))

    def next_ns(self) -> int | None:
        """Return when the next message is due of threads that can send; None if none can."""
        able = (outlet.thread for outlet in self.connections.all if outlet.able)
        return min((thread.next_due_ns() for thread in able), default=None)

    @property
    def busy(self) -> bool:
        """Whether anything is still to be sent or confirmed."""
        return super().busy or any(each.waiting for each in self.publishers)

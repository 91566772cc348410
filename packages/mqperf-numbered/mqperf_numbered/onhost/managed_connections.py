"""Connections of a process: lost ones are opened again, and all are attended together."""

import select
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from mqperf_numbered.onhost.broker import Lost, Refused
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.inbox import Inbox
from mqperf_numbered.onhost.waiting import BackOff, Waiting

LOOK_EVERY_S = 0.05
"""So often heartbeats, and connections that are to be opened again, are looked after."""


C = TypeVar("C", bound=Inbox)


class ManagedConnection(ABC, Generic[C]):
    """A connection, while there is one; ``connect`` opens it."""

    def __init__(self, waiting: Waiting, diary: Diary, connect: Callable[[], C]) -> None:
        self.waiting, self.diary, self.connect = waiting, diary, connect
        self.connection: C | None = None
        self.back_off = BackOff()

    @abstractmethod
    def prepare(self, connection: C) -> None:
        """Set up what a new connection is for."""

    @abstractmethod
    def read(self, connection: C) -> None:
        """Deal with everything that has come."""

    def settle(self) -> None:
        """Count what was handed over, or has come: all of it, or what the connection lasted for."""

    def enough(self, _connection: C) -> bool:
        """Whether what has come is to be dealt with at once."""
        return True

    def consume(self) -> None:
        """Ask for messages, where that is done some time after the load has begun."""

    def open(self) -> None:
        """Connect; raises ``Lost`` or ``Refused``."""
        connection = self.connect()
        try:
            self.prepare(connection)
        except BaseException:
            connection.socket.close()
            raise
        connection.flowing()
        self.connection = connection
        self.waiting.watch(connection, to_write=not connection.drained)
        self.read(connection)  # what came with the last answer

    def watch(self) -> None:
        """Wait until the socket takes more, while there is more for it."""
        if self.connection is not None:
            self.waiting.watch(self.connection, to_write=not self.connection.drained)

    def hand_over(self) -> None:
        """Go on with what the socket did not take at once."""
        if self.connection is not None and not self.connection.drained:
            self.connection.flush()
            if self.connection.drained:
                self.settle()
                self.watch()

    def take_in(self) -> None:
        """Take in what has come, and deal with it if it is enough."""
        connection = self.connection
        if connection is not None and connection.fill() and self.enough(connection):
            self.read(connection)

    def lost(self, why: Lost) -> None:
        """Connect again after a while."""
        if self.connection is None:
            return
        self.settle()
        self.diary.happened("disconnected", why=str(why))
        self.waiting.forget(self.connection)
        self.connection.socket.close()
        self.connection = None
        self.back_off = BackOff()

    def close(self, timeout_s: float, *, at_once: bool) -> None:
        """Say goodbye: what the other end has not read of what was handed over may be lost."""
        connection = self.connection
        if connection is None:
            return
        if at_once or not connection.drained:
            connection.socket.close()
            self.diary.happened("cut-off")
        elif not connection.close(timeout_s):
            self.diary.happened("cut-off")

    def look_after(self) -> None:
        """Keep it alive, or connect if it is time.

        A broker that refuses us now has not refused us before: it starts, and is still away.
        """
        if self.connection is not None:
            self.connection.keep_alive()
            self.watch()
        elif self.back_off.over:
            try:
                self.open()
            except (Lost, Refused) as error:
                if self.connection is None:
                    self.back_off.failed()
                else:  # what came with the last answer
                    self.lost(Lost(str(error)))
            else:
                self.diary.happened("reconnected")


L = TypeVar("L", bound=ManagedConnection[Any])


class ManagedConnections(Generic[L]):
    """All of a process."""

    def __init__(self, waiting: Waiting, connections: Sequence[L]) -> None:
        self.waiting, self.all = waiting, connections
        self.of_file: dict[int, L] = {}
        self.looked_at = 0.0

    def open(self) -> None:
        """Connect every one."""
        for managed in self.all:
            managed.open()
        self._look_after()

    def attend(self, timeout_s: float) -> bool:
        """Wait so long at most, and read and write what can be; whether there was anything."""
        ready = self.waiting.ready(timeout_s)
        for number, events in ready:
            self._attend(self.of_file[number], events)
        if time.monotonic() - self.looked_at > LOOK_EVERY_S:
            self._look_after()
        return bool(ready)

    def try_on(self, managed: L, action: Callable[[], object]) -> None:
        """Do something that may find out that the connection is lost."""
        try:
            action()
        except Lost as error:
            managed.lost(error)

    def _attend(self, managed: L, events: int) -> None:
        if events & select.EPOLLOUT:
            self.try_on(managed, managed.hand_over)
        if events & ~select.EPOLLOUT:
            self.try_on(managed, managed.take_in)

    def _look_after(self) -> None:
        self.looked_at = time.monotonic()
        for managed in self.all:
            self.try_on(managed, managed.look_after)
            if managed.connection is not None:
                self.of_file[managed.connection.fileno()] = managed

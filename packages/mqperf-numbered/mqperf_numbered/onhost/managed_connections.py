"""Connections of a process, served by one event loop; lost ones are opened again."""

import select
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from mqperf_numbered.onhost.broker import Lost, Refused
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.inbox import Inbox
from mqperf_numbered.onhost.waiting import BackOff, Waiting

MAINTAIN_EVERY_S = 0.05
"""The interval in which heartbeats are sent, and lost connections opened again."""


C = TypeVar("C", bound=Inbox)


class ManagedConnection(ABC, Generic[C]):
    """A connection, which is None while it is lost; ``connect`` opens it."""

    def __init__(self, waiting: Waiting, diary: Diary, connect: Callable[[], C]) -> None:
        self.waiting, self.diary, self.connect = waiting, diary, connect
        self.connection: C | None = None
        self.back_off = BackOff()

    @abstractmethod
    def prepare(self, connection: C) -> None:
        """Set up a new connection: declare, subscribe and so on."""

    @abstractmethod
    def read(self, connection: C) -> None:
        """Handle everything that has come."""

    def settle(self) -> None:
        """Count what was sent or received, as far as the connection lasted."""

    def enough(self, _connection: C) -> bool:
        """Whether enough has come to handle it now."""
        return True

    def consume(self) -> None:
        """Start to consume, if consumers start only after the load has begun."""

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
        """Poll the socket for writing while there are unsent bytes."""
        if self.connection is not None:
            self.waiting.watch(self.connection, to_write=not self.connection.drained)

    def hand_over(self) -> None:
        """Send more of the bytes that the socket did not take at once."""
        if self.connection is not None and not self.connection.drained:
            self.connection.flush()
            if self.connection.drained:
                self.settle()
                self.watch()

    def take_in(self) -> None:
        """Receive what has come, and handle it if it is enough."""
        connection = self.connection
        if connection is not None and connection.fill() and self.enough(connection):
            self.read(connection)

    def lost(self, why: Lost) -> None:
        """Close the lost connection, to be opened again after a back-off."""
        if self.connection is None:
            return
        self.settle()
        self.diary.happened("disconnected", why=str(why))
        self.waiting.forget(self.connection)
        self.connection.socket.close()
        self.connection = None
        self.back_off = BackOff()

    def close(self, timeout_s: float, *, at_once: bool) -> None:
        """Close the connection; sent bytes that the other end has not read may be lost."""
        connection = self.connection
        if connection is None:
            return
        if at_once or not connection.drained:
            connection.socket.close()
            self.diary.happened("cut-off")
        elif not connection.close(timeout_s):
            self.diary.happened("cut-off")

    def look_after(self) -> None:
        """Send a heartbeat if one is due, or connect again if it is time.

        A refusal is a failed attempt: the broker accepted us before, so it is still starting.
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
    """All connections of a process."""

    def __init__(self, waiting: Waiting, connections: Sequence[L]) -> None:
        self.waiting, self.all = waiting, connections
        self.by_descriptor: dict[int, L] = {}
        self.maintained_at = 0.0

    def open(self) -> None:
        """Open all connections."""
        for managed in self.all:
            managed.open()
        self._look_after()

    def attend(self, timeout_s: float) -> bool:
        """Read and write what is ready within ``timeout_s``; return whether anything was."""
        ready = self.waiting.ready(timeout_s)
        for descriptor, events in ready:
            self._attend(self.by_descriptor[descriptor], events)
        if time.monotonic() - self.maintained_at > MAINTAIN_EVERY_S:
            self._look_after()
        return bool(ready)

    def try_on(self, managed: L, action: Callable[[], object]) -> None:
        """Call ``action``; handle the loss of the connection if it raises ``Lost``."""
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
        self.maintained_at = time.monotonic()
        for managed in self.all:
            self.try_on(managed, managed.look_after)
            if managed.connection is not None:
                self.by_descriptor[managed.connection.fileno()] = managed

"""Connections of a process: lost ones are opened again, and all are attended together."""

import select
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.waiting import BackOff, Waiting


class Lost(Exception):
    """The connection is gone; another one may be opened."""


class Refused(Exception):
    """The broker refuses what is asked of it: it would do so again."""


LOOK_EVERY_S = 0.05
"""So often heartbeats, and connections that are to be opened again, are looked after."""


@dataclass(frozen=True, slots=True)
class Broker:
    """Where and as whom to connect; the first address that answers is taken.

    With ``authority``, a certificate in PEM, by TLS: the other end's must be signed by it.
    How often heartbeats are asked for, and how much is taken in at once, is the protocol's choice
    where it is None.
    """

    addresses: Sequence[str]
    user: str
    password: str = field(repr=False)
    vhost: str
    authority: str = ""
    heartbeat_s: int | None = None
    buffer_bytes: int | None = None


class Connected(Protocol):
    """An open connection, whatever it speaks; its methods raise ``Lost`` or ``Refused``."""

    socket: socket.socket

    @property
    def drained(self) -> bool:
        """Whether everything is handed over."""
        ...

    def fileno(self) -> int:
        """For selectors."""
        ...

    def flowing(self) -> None:
        """From now on nothing waits."""
        ...

    def flush(self) -> None:
        """Hand over what can be."""
        ...

    def fill(self) -> bool:
        """Take in what has come; False when there was nothing."""
        ...

    def close(self, timeout_s: float) -> bool:
        """Say goodbye; whether the other end has read all that was handed over."""
        ...

    def keep_alive(self) -> None:
        """Show that we are there if it is time, and see whether the other end is."""
        ...


C = TypeVar("C", bound=Connected)


def _nothing() -> None:
    return None


def _always(_connection: Connected) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Handlers(Generic[C]):
    """What is done with a connection.

    ``connect`` opens a connection, ``prepare`` sets up what a new one is for, ``read`` deals with
    everything that has come, ``settle`` counts what was handed over, or has come: all of it, or as
    much as the connection lasted for.  ``enough`` says whether what has come is to be dealt with at
    once, and ``consume`` asks for messages where that is done later.
    """

    connect: Callable[[], C]
    prepare: Callable[[C], None]
    read: Callable[[C], None]
    settle: Callable[[], None] = _nothing
    enough: Callable[[C], bool] = _always
    consume: Callable[[], None] = _nothing


class ManagedConnection(Generic[C]):
    """A connection, while there is one."""

    def __init__(self, waiting: Waiting, diary: Diary, handlers: Handlers[C]) -> None:
        self.waiting, self.diary, self.handlers = waiting, diary, handlers
        self.connection: C | None = None
        self.back_off = BackOff()

    def open(self) -> None:
        """Connect; raises ``Lost`` or ``Refused``."""
        connection = self.handlers.connect()
        try:
            self.handlers.prepare(connection)
        except BaseException:
            connection.socket.close()
            raise
        connection.flowing()
        self.connection = connection
        self.waiting.watch(connection, to_write=not connection.drained)
        self.handlers.read(connection)  # what came with the last answer

    def watch(self) -> None:
        """Wait until the socket takes more, while there is more for it."""
        if self.connection is not None:
            self.waiting.watch(self.connection, to_write=not self.connection.drained)

    def hand_over(self) -> None:
        """Go on with what the socket did not take at once."""
        if self.connection is not None and not self.connection.drained:
            self.connection.flush()
            if self.connection.drained:
                self.handlers.settle()
                self.watch()

    def read(self) -> None:
        """Take in what has come, and deal with it if it is enough."""
        connection = self.connection
        if connection is not None and connection.fill() and self.handlers.enough(connection):
            self.handlers.read(connection)

    def lost(self, why: Lost) -> None:
        """Connect again after a while."""
        if self.connection is None:
            return
        self.handlers.settle()
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
            except (Lost, Refused):
                self.back_off.failed()
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
            self.try_on(managed, managed.read)

    def _look_after(self) -> None:
        self.looked_at = time.monotonic()
        for managed in self.all:
            self.try_on(managed, managed.look_after)
            if managed.connection is not None:
                self.of_file[managed.connection.fileno()] = managed

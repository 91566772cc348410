"""What clients, and servers, of all loads do alike, whatever they speak."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from mqperf.onhost.load.control import Control
from mqperf_numbered.onhost.arrivals import Arrivals
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.managed_connections import ManagedConnection, ManagedConnections
from mqperf_numbered.onhost.orders import Orders
from mqperf_numbered.onhost.schedule import NS

CLIENT_IDLE_S = 0.02
"""Longest wait while nothing is due: then the control folder and connections are looked at."""

FAREWELL_S = 12.0
"""Beyond a plan's timeout, for the other end to read what was handed over; the runner waits longer.
"""

END_EVERY_S = 0.25
"""How often is looked whether the load ends early."""

SERVER_IDLE_S = 0.05
COUNT_EVERY_S = 0.25

L = TypeVar("L", bound=ManagedConnection[Any])


class Attending(Generic[L]):
    """Connections that are open from before the load on; ``attend`` waits for them for a moment."""

    def __init__(
        self, control: Control, connections: ManagedConnections[L], attend: Callable[[], object]
    ) -> None:
        self.control, self.connections, self.attend = control, connections, attend

    def prepare(self) -> None:
        """Connect all, and set up what they are for."""
        self.connections.open()

    def idle(self) -> None:
        """Stay connected until the load starts."""
        self.attend()


class Counting(Protocol):
    """A thread that sends ``total`` messages at most; ``next`` of them were handed over so far.

    ``sent_ns`` is when the last of these were.
    """

    total: int
    next: int
    sent_ns: int


class Client(Attending[L]):
    """One that sends from the agreed start on, for as long as its orders say.

    Where all its threads have sent as many messages as they were to, it tells the runner when the
    first and the last of them had, and waits for the end that it is then told.
    """

    def __init__(
        self,
        orders: Orders,
        control: Control,
        connections: ManagedConnections[L],
        threads: Sequence[Counting] = (),
    ) -> None:
        super().__init__(control, connections, partial(connections.attend, CLIENT_IDLE_S))
        self.load_s, self.timeout_s = orders.load_s, orders.timeout_s
        self.threads = threads
        self._look_ns = 0
        self._all_sent = False

    def span_ns(self, start: float) -> tuple[int, int]:
        """When the load starts and when it ends."""
        start_ns = int(start * NS)
        return start_ns, start_ns + int(self.load_s * NS)

    def end_ns(self, now_ns: int, end_ns: int) -> int:
        """The end of the load as it is known by now: the runner may have told an earlier one."""
        if now_ns < self._look_ns:
            return end_ns
        self._look_ns = now_ns + int(END_EVERY_S * NS)
        self._say_all_sent()
        end_s = self.control.end()
        return end_ns if end_s is None else min(end_ns, int(end_s * NS))

    def _say_all_sent(self) -> None:
        """Once there is nothing left to send."""
        if self._all_sent or not self.threads:
            return
        if all(thread.next >= thread.total for thread in self.threads):
            instants = [thread.sent_ns / NS for thread in self.threads]
            self.control.say("sent", f"{min(instants):.6f} {max(instants):.6f}")
            self._all_sent = True

    def await_start(self, start_ns: int) -> None:
        """Return when it is time, or a signal came."""
        while (now_ns := time.time_ns()) < start_ns and not self.control.stopping:
            self.connections.attend(min(CLIENT_IDLE_S, (start_ns - now_ns) / NS))

    @property
    def pending(self) -> bool:
        """Whether a socket has not taken everything yet."""
        return any(
            managed.connection and not managed.connection.drained
            for managed in self.connections.all
        )

    def finish(self, busy: Callable[[], bool]) -> None:
        """Go on while anything is awaited, for as long as a plan's timeout, and say goodbye."""
        limit = time.monotonic() + self.timeout_s
        while busy() and time.monotonic() < limit and not self.control.stopping:
            self.attend()
        self._say_all_sent()
        for managed in self.connections.all:
            if managed.connection is not None:
                managed.handlers.settle()
                managed.close(limit + FAREWELL_S - time.monotonic(), at_once=self.control.stopping)


@dataclass(frozen=True, slots=True)
class Late(Generic[L]):
    """Consumers that start some time after the load: what each connection then does."""

    after_s: float
    consume: Callable[[L], None]
    diary: Diary


class Server(Attending[L]):
    """One that receives until it is told to stop, and says how many messages came."""

    def __init__(
        self,
        control: Control,
        connections: ManagedConnections[L],
        arrivals: Arrivals,
        attend: Callable[[], object] | None = None,
        late: Late[L] | None = None,
    ) -> None:
        super().__init__(control, connections, attend or partial(connections.attend, SERVER_IDLE_S))
        self.arrivals, self.late = arrivals, late

    @property
    def consuming(self) -> bool:
        """Whether messages are to come by now."""
        return self.late is None

    def attend_until_stop(self, start: float) -> None:
        """Return when the runner, or a signal, asks for it; the load is to start at ``start``."""
        while not self.control.told_to_stop:
            limit = time.monotonic() + COUNT_EVERY_S
            while time.monotonic() < limit and not self.control.stopping:
                self._begin_late(start)
                self.attend()
            self.say_count()
        self.say_count()

    def _begin_late(self, start: float) -> None:
        """Consume on all connections, if it is time; those that are lost do when they are back."""
        if (late := self.late) is None or time.time() < start + late.after_s:
            return
        self.late = None
        late.diary.happened("consuming")
        for managed in self.connections.all:
            if managed.connection is not None:
                self.connections.try_on(managed, partial(late.consume, managed))

    def say_count(self) -> None:
        """Tell the runner how many messages have come, how long they took, and what is missing."""
        come = self.arrivals
        counts = f"{come.received} {come.took_s:.6f} {time.monotonic():.6f} {come.missing}"
        self.control.say("count", " ".join([counts, *map(str, come.late)]))

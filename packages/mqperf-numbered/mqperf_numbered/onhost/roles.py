"""The common behaviour of clients and servers, whatever their protocol."""

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from mqperf.onhost.load.control import Control
from mqperf_numbered.onhost.arrivals import Arrivals
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.managed_connections import ManagedConnection, ManagedConnections
from mqperf_numbered.onhost.orders import Orders
from mqperf_numbered.onhost.schedule import NS, TICK_NS
from mqperf_numbered.onhost.sending_thread import SendingThread

CLIENT_IDLE_S = 0.02
"""Longest wait while nothing is due; then the control folder and connections are checked."""

FAREWELL_S = 12.0
"""Time beyond a plan's timeout for the broker to read what was sent; the runner waits longer."""

END_EVERY_S = 0.25
"""Interval of checks whether the load ends early."""

SERVER_IDLE_S = 0.05
COUNT_EVERY_S = 0.25

L = TypeVar("L", bound=ManagedConnection[Any])


class Role(ABC, Generic[L]):
    """A process that opens its connections before the load.

    It waits for ``idle_s`` at a time for events on them.  Methods raise ``Lost`` or ``Refused``.
    """

    idle_s: float

    def __init__(self, control: Control, connections: ManagedConnections[L]) -> None:
        self.control, self.connections = control, connections

    def prepare(self) -> None:
        """Open and set up all connections."""
        self.connections.open()

    def attend(self) -> None:
        """Read and write what is ready, waiting for ``idle_s`` at most."""
        self.connections.attend(self.idle_s)

    @abstractmethod
    def run(self, start: float) -> None:
        """Run from the agreed start to the end; on return, the record has all messages."""


class Client(Role[L]):
    """A process that sends from the agreed start on, for as long as its orders say.

    When all its threads have sent their number of messages, it reports to the runner when the first
    and the last of them finished, and waits for the end that the runner then sets.
    Messages due within ``tick_ns`` are sent together.
    """

    idle_s = CLIENT_IDLE_S
    tick_ns = TICK_NS

    def __init__(
        self,
        orders: Orders,
        control: Control,
        connections: ManagedConnections[L],
        threads: Sequence[SendingThread] = (),
    ) -> None:
        super().__init__(control, connections)
        self.load_s, self.timeout_s, self.paced = orders.load_s, orders.timeout_s, orders.paced
        self.threads = threads
        self._check_ns = 0
        self._all_sent = False

    @abstractmethod
    def send(self, now_ns: int) -> None:
        """Send what is due by now, or all that can be sent if there is no schedule."""

    @abstractmethod
    def next_ns(self) -> int | None:
        """Return when more is to be sent; None if nothing can be sent, or all was."""

    def begin(self, start_ns: int) -> None:
        """Begin all schedules at the start of the load."""
        for thread in self.threads:
            if thread.schedule is not None:
                thread.schedule.begin(start_ns)

    def run(self, start: float) -> None:
        """Send from the agreed start on until the load has ended, or a signal came."""
        start_ns = int(start * NS)
        end_ns = start_ns + int(self.load_s * NS)
        self.begin(start_ns)
        while (now_ns := time.time_ns()) < start_ns and not self.control.stopping:
            self.connections.attend(min(CLIENT_IDLE_S, (start_ns - now_ns) / NS))
        while (now_ns := time.time_ns()) < end_ns and not self.control.stopping:
            self.send(now_ns)
            end_ns = self._end_ns(now_ns, end_ns)
            self.connections.attend(self._pause_s(now_ns, end_ns))
        if self.paced and not self.control.stopping:
            self.send(end_ns - 1)  # what is due between the last call and the end
        self.finish()

    def _pause_s(self, last_ns: int, end_ns: int) -> float:
        """Return the time until more can be sent; with a schedule, at least to the next tick."""
        next_ns = self.next_ns()
        if next_ns is None:
            return CLIENT_IDLE_S
        if next_ns <= last_ns or not self.paced:
            return 0.0
        next_ns = min(max(next_ns, last_ns + self.tick_ns), end_ns)
        return max(0.0, min(CLIENT_IDLE_S, (next_ns - time.time_ns()) / NS))

    def _end_ns(self, now_ns: int, end_ns: int) -> int:
        """Return the end of the load, which the runner may have set to an earlier instant."""
        if now_ns < self._check_ns:
            return end_ns
        self._check_ns = now_ns + int(END_EVERY_S * NS)
        self._report_all_sent()
        end_s = self.control.end()
        return end_ns if end_s is None else min(end_ns, int(end_s * NS))

    def _report_all_sent(self) -> None:
        """Report once that all messages were sent."""
        if self._all_sent or not self.threads:
            return
        if all(thread.next >= thread.total for thread in self.threads):
            instants = [thread.sent_ns / NS for thread in self.threads]
            self.control.say("sent", f"{min(instants):.6f} {max(instants):.6f}")
            self._all_sent = True

    @property
    def busy(self) -> bool:
        """Whether anything is awaited: here, that sockets take all queued bytes."""
        return any(
            managed.connection and not managed.connection.drained
            for managed in self.connections.all
        )

    def finish(self) -> None:
        """Go on while anything is awaited, up to the plan's timeout; close all connections."""
        deadline = time.monotonic() + self.timeout_s
        while self.busy and time.monotonic() < deadline and not self.control.stopping:
            self.attend()
        self._report_all_sent()
        for managed in self.connections.all:
            if managed.connection is not None:
                managed.settle()
                timeout_s = deadline + FAREWELL_S - time.monotonic()
                managed.close(timeout_s, at_once=self.control.stopping)


class Server(Role[L]):
    """A process that receives until it is told to stop, and reports how many messages came.

    With ``after_s`` it begins to consume so long after the start of the load.
    """

    idle_s = SERVER_IDLE_S

    def __init__(
        self,
        control: Control,
        connections: ManagedConnections[L],
        arrivals: Arrivals,
        diary: Diary,
        after_s: float | None = None,
    ) -> None:
        super().__init__(control, connections)
        self.arrivals, self.diary, self.after_s = arrivals, diary, after_s

    @property
    def consuming(self) -> bool:
        """Whether it has begun to consume."""
        return self.after_s is None

    def run(self, start: float) -> None:
        """Receive until told to stop."""
        self.attend_until_stop(start)
        for managed in self.connections.all:
            if managed.connection is not None:
                managed.connection.close(1.0)

    def attend_until_stop(self, start: float) -> None:
        """Receive until the runner, or a signal, asks to stop; the load starts at ``start``."""
        while not self.control.told_to_stop:
            report_at = time.monotonic() + COUNT_EVERY_S
            while time.monotonic() < report_at and not self.control.stopping:
                self._begin_late(start)
                self.attend()
            self.say_count()
        self.say_count()

    def _begin_late(self, start: float) -> None:
        """Begin to consume if it is time; lost connections begin when they are open again."""
        if self.after_s is None or time.time() < start + self.after_s:
            return
        self.after_s = None
        self.diary.happened("consuming")
        for managed in self.connections.all:
            if managed.connection is not None:
                self.connections.try_on(managed, managed.consume)

    def say_count(self) -> None:
        """Report to the runner the counts of received, missing and late messages, and latency."""
        seen = self.arrivals
        counts = f"{seen.received} {seen.took_s:.6f} {time.monotonic():.6f} {seen.missing}"
        self.control.say("count", " ".join([counts, *map(str, seen.late)]))

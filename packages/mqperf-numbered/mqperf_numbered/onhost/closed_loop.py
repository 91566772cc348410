"""A closed loop: each thread waits for the reply to a request before it sends the next."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence

from mqperf.onhost.load.control import Control
from mqperf.onhost.load.record import Record

STREAMS = ("sent", "round_trip", "error")

AFTER_FAILURE_S = 0.1
"""Pause of a thread after a failed request, so that it does not fail in a busy loop."""


class ClosedLoop:
    """The threads of one process and their record, which has this header."""

    def __init__(self, control: Control, header: Mapping[str, object]) -> None:
        self.control = control
        self.record = Record(dict(header), [*STREAMS])
        self._lock = threading.Lock()
        self._last = self._end = 0.0

    def run(self, load_s: float, threads: Sequence[Callable[[], None]]) -> None:
        """Run the threads, each of which returns when the load no longer ``goes_on``."""
        self.control.say("ready")
        start = self.control.wait_for_start()
        if start is None:
            return
        self.record.header["start"], self._end = start, start + load_s
        time.sleep(max(0.0, start - time.time()))
        running = [threading.Thread(target=thread) for thread in threads]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()

    def goes_on(self) -> bool:
        """Whether the load has not ended."""
        return not self.control.stopping and time.time() < self._end

    def begin(self) -> float:
        """Record and return the instant of a request, unique within this process."""
        with self._lock:
            now = time.time()
            while now <= self._last:
                now = time.time()
            self._last = now
            self.record.add("sent", now)
            return now

    def done(self, begun: float) -> None:
        """Record the reply to the request of that instant."""
        self._add("round_trip", begun)

    def failed(self, begun: float) -> None:
        """Record the failure of the request of that instant, and pause."""
        self._add("error", begun)
        time.sleep(AFTER_FAILURE_S)

    def _add(self, stream: str, begun: float) -> None:
        with self._lock:
            self.record.add(stream, begun, time.time())

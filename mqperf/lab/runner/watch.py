"""Detection of events that spoil a run: a frozen process, a clock that is set."""

import time
from collections.abc import Callable, Collection

from mqperf.base.errors import SystemFault
from mqperf.lab.systems import Deployment
from mqperf.record import CLOCK_STEP_LIMIT_S, clock_was_set

FROZEN_PATIENCE_S = 3.0
"""Seconds that a process found frozen at the end of a run has to continue."""


class Clock:
    """The host's clock, compared to the monotonic clock, which cannot be set."""

    def __init__(self, host: str) -> None:
        """Take the first reading of both clocks."""
        self._host = host
        self._low, self._high = _bounds()

    def check(self) -> None:
        """Raise ``HostError`` when the clock was set since, beyond the error of the readings."""
        low, high = _bounds()
        step_s = max(low - self._high, 0.0) or min(high - self._low, 0.0)
        if abs(step_s) > CLOCK_STEP_LIMIT_S:
            raise clock_was_set(self._host, step_s)


def _bounds() -> tuple[float, float]:
    """Return bounds of clock minus monotonic clock, which are not read at the same instant."""
    before = time.monotonic()
    now = time.time()
    return now - time.monotonic(), now - before


class FreezeMonitor:
    """Finds nodes that are frozen, by a signal or a debugger; ``seen`` has first and last time."""

    def __init__(
        self, deployment: Deployment, planned: Callable[[], Collection[str]] = frozenset
    ) -> None:
        """Watch every node whose process is visible.

        ``planned`` returns the labels of nodes that an action of the plan disturbs now.
        """
        self._deployment, self._planned = deployment, planned
        self.seen: dict[str, tuple[float, float]] = {}

    def look(self) -> list[str]:
        """Return the names of the nodes that are frozen now; reads /proc once per node."""
        now = time.time()
        planned = self._planned()
        frozen = [
            f"{node.label} ({node.name})"
            for node in self._deployment.nodes  # an action may have started another process
            if node.process is not None and node.label not in planned and node.process.frozen
        ]
        for name in frozen:
            self.seen[name] = self.seen.get(name, (now, now))[0], now
        return frozen

    def check(self) -> None:
        """Raise ``SystemFault`` when a node is frozen and does not continue within seconds."""
        deadline = time.monotonic() + FROZEN_PATIENCE_S
        while frozen := self.look():
            if time.monotonic() > deadline:
                raise SystemFault(
                    f"{', '.join(frozen)} is frozen: it was stopped (SIGSTOP) and not resumed;"
                    " repeat the command"
                )
            time.sleep(0.1)

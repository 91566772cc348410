"""What must not happen during a run: a process that stands still, a clock that is set."""

import time
from collections.abc import Callable, Collection

from mqperf.base.errors import SystemFault
from mqperf.lab.systems import Deployment
from mqperf.record import CLOCK_STEP_LIMIT_S, clock_was_set

FROZEN_PATIENCE_S = 3.0
"""Seconds in which a process that was found frozen at the end of a run may go on."""


class Clock:
    """The host's clock against one that nobody can set."""

    def __init__(self, host: str) -> None:
        """Begin to compare."""
        self._host = host
        self._low, self._high = _bounds()

    def check(self) -> None:
        """Raise ``HostError`` when the clock was set since, and not only read late."""
        low, high = _bounds()
        step_s = max(low - self._high, 0.0) or min(high - self._low, 0.0)
        if abs(step_s) > CLOCK_STEP_LIMIT_S:
            raise clock_was_set(self._host, step_s)


def _bounds() -> tuple[float, float]:
    """The clock minus one that nobody can set, at least and at most: reading takes time."""
    before = time.monotonic()
    now = time.time()
    return now - time.monotonic(), now - before


class FreezeMonitor:
    """Which nodes of a deployment were found frozen, by a signal or a debugger, and when."""

    def __init__(
        self, deployment: Deployment, planned: Callable[[], Collection[str]] = frozenset
    ) -> None:
        """Watch every node that runs where we can see it.

        ``planned`` gives the labels of those that an action of the plan disturbs now.
        """
        self._deployment, self._planned = deployment, planned
        self.seen: dict[str, tuple[float, float]] = {}

    def look(self) -> list[str]:
        """Names of the nodes that are frozen now; costs a reading of /proc for each."""
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
        """Raise ``SystemFault`` when a node is frozen and does not go on within a few seconds."""
        limit = time.monotonic() + FROZEN_PATIENCE_S
        while frozen := self.look():
            if time.monotonic() > limit:
                raise SystemFault(
                    f"{', '.join(frozen)} is frozen: it was stopped (SIGSTOP) and not resumed;"
                    " repeat the command"
                )
            time.sleep(0.1)

"""When messages are due: an absolute schedule, which no pause of sender or broker moves."""

import math

import numpy as np
from numpy.typing import NDArray

from mqperf.load.numbered.inside.orders import OfThreads

NS = 1_000_000_000

TICK_NS = 250_000
"""Messages due within a quarter of a millisecond are sent together."""


class Schedule:
    """The messages of one sender, ``rate`` a second from the start on.

    With ``ramp_to`` the rate changes evenly, from ``rate`` at the start to that after ``over_s``,
    and stays there.  Senders that share a rate begin one after the other, ``phase`` of a message
    apart, so that together they are as even as one.
    """

    def __init__(
        self, rate: float, phase: float, ramp_to: float | None = None, over_s: float = 0.0
    ) -> None:
        self.rate = rate
        self.phase = phase
        self.last_rate = rate if ramp_to is None else ramp_to
        self.over_s = 0.0 if ramp_to is None else over_s
        self.growth = (self.last_rate - rate) / self.over_s if self.over_s else 0.0
        self.in_ramp = (rate + self.last_rate) / 2 * self.over_s
        self.start_ns = 0

    def begin(self, start_ns: int) -> None:
        """Count from this instant."""
        self.start_ns = start_ns

    def due(self, now_ns: int) -> int:
        """How many messages are due by now, since the start."""
        passed = (now_ns - self.start_ns) / NS
        if passed < self.over_s:
            whole = passed * (self.rate + self.growth * passed / 2)
        else:
            whole = self.in_ramp + (passed - self.over_s) * self.last_rate
        return max(0, math.floor(whole - self.phase) + 1)

    def instants_ns(self, first: int, count: int) -> NDArray[np.int64]:
        """When these messages are due."""
        whole: NDArray[np.float64] = np.arange(first, first + count, dtype=float) + self.phase
        offsets: NDArray[np.int64] = np.rint(self._after_s(whole) * NS).astype(np.int64)
        return offsets + self.start_ns

    def instant_ns(self, number: int) -> int:
        """When this message is due."""
        return int(self.instants_ns(number, 1)[0])

    def _after_s(self, whole: NDArray[np.float64]) -> NDArray[np.float64]:
        """When so many messages have passed; in a ramp it is the root of a parabola."""
        steady = self.over_s + (whole - self.in_ramp) / self.last_rate
        if not self.over_s:
            return steady
        under = np.maximum(self.rate**2 + 2 * self.growth * whole, 0.0)
        return np.where(whole < self.in_ramp, 2 * whole / (self.rate + np.sqrt(under)), steady)


def of_thread(orders: OfThreads, number: int) -> Schedule | None:
    """When that thread of all is to send; None where it sends as fast as it can."""
    if orders.rate is None:
        return None
    return Schedule(orders.rate, number / orders.all_threads, orders.ramp_to, orders.load_s)

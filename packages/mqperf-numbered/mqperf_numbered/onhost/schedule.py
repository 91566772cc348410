"""When messages are due: an absolute schedule, independent of pauses of sender or broker."""

import math

import numpy as np
from numpy.typing import NDArray

from mqperf.onhost.load.curves import Amounts, Curve, SteppedRate
from mqperf_numbered.onhost.curves import Ramp, Steady
from mqperf_numbered.onhost.cycles import CycledRate
from mqperf_numbered.onhost.orders import Pace, ThreadOrders

NS = 1_000_000_000

TICK_NS = 250_000
"""Messages due within a quarter of a millisecond are sent together."""


class Schedule:
    """When the messages of one sender are due, by a rate from the start on.

    ``phase`` delays a sender by a part of a message: senders that share a rate have phases that
    make them together as even as a single one.
    """

    def __init__(self, curve: Curve, phase: float = 0.0) -> None:
        self.curve, self.phase = curve, phase
        self.start_ns = 0

    def begin(self, start_ns: int) -> None:
        """Set the instant of the start."""
        self.start_ns = start_ns

    def due(self, now_ns: int) -> int:
        """Return how many messages are due by now, since the start."""
        due = self.curve.due((now_ns - self.start_ns) / NS)
        return max(0, math.floor(due - self.phase) + 1)

    def instants_ns(self, first: int, count: int) -> NDArray[np.int64]:
        """Return when messages ``first`` to ``first + count - 1`` are due."""
        due: Amounts = np.arange(first, first + count, dtype=float) + self.phase
        offsets: NDArray[np.int64] = np.rint(self.curve.after_s(due) * NS).astype(np.int64)
        return offsets + self.start_ns

    def instant_ns(self, number: int) -> int:
        """Return when this message is due."""
        return int(self.instants_ns(number, 1)[0])


def curve_of(pace: Pace, over_s: float) -> Curve:
    """Return the curve of a pace in a load of ``over_s`` seconds."""
    if pace.cycle is not None:
        return CycledRate(pace.cycle)
    if pace.ramp_to is None:
        return Steady(pace.rate)
    if pace.steps is None:
        return Ramp(pace.rate, pace.ramp_to, over_s)
    return SteppedRate(pace.rate, pace.ramp_to, over_s, pace.steps, by_ratio=pace.by_ratio)


def of_thread(orders: ThreadOrders, number: int) -> Schedule | None:
    """Return the schedule of a thread by its global number; None if it sends as fast as it can."""
    if orders.pace is None:
        return None
    return Schedule(curve_of(orders.pace, orders.load_s), number / orders.all_threads)

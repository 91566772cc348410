"""When messages are due: an absolute schedule, which no pause of sender or broker moves."""

import math
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mqperf.onhost.load.numbered.orders import OfThreads, Pace

NS = 1_000_000_000

TICK_NS = 250_000
"""Messages due within a quarter of a millisecond are sent together."""

Amounts = NDArray[np.float64]
"""Messages, or seconds."""


class Curve(Protocol):
    """How a rate changes, as the number of messages that are due since the start."""

    def whole(self, passed_s: float) -> float:
        """How many messages are due after so many seconds, fractions of one included."""
        ...

    def after_s(self, whole: Amounts) -> Amounts:
        """After how many seconds so many are due: the inverse."""
        ...


class Steady:
    """``rate`` a second, all the time."""

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def whole(self, passed_s: float) -> float:
        """In proportion."""
        return passed_s * self.rate

    def after_s(self, whole: Amounts) -> Amounts:
        """In proportion."""
        return whole / self.rate


class Ramp:
    """From ``rate`` evenly to ``last`` after ``over_s`` seconds, and steady from there on."""

    def __init__(self, rate: float, last: float, over_s: float) -> None:
        self.rate, self.last, self.over_s = rate, last, over_s
        self.growth = (last - rate) / over_s
        self.in_ramp = (rate + last) / 2 * over_s

    def whole(self, passed_s: float) -> float:
        """The area below the line."""
        if passed_s < self.over_s:
            return passed_s * (self.rate + self.growth * passed_s / 2)
        return self.in_ramp + (passed_s - self.over_s) * self.last

    def after_s(self, whole: Amounts) -> Amounts:
        """In the ramp, the root of a parabola."""
        steady = self.over_s + (whole - self.in_ramp) / self.last
        under = np.maximum(self.rate**2 + 2 * self.growth * whole, 0.0)
        return np.where(whole < self.in_ramp, 2 * whole / (self.rate + np.sqrt(under)), steady)


class SteppedRate:
    """From ``rate`` to ``last`` in ``steps`` of equal length; steady from the last on.

    They are equally high, or ``by_ratio`` equally many times higher.  All take ``over_s`` seconds.
    """

    def __init__(
        self, rate: float, last: float, over_s: float, steps: int, *, by_ratio: bool = False
    ) -> None:
        self.rates = (np.geomspace if by_ratio else np.linspace)(rate, last, steps)
        self.step_s = over_s / steps
        self.before = np.concatenate([[0.0], np.cumsum(self.rates[:-1] * self.step_s)])

    def whole(self, passed_s: float) -> float:
        """The area below the stairs."""
        step = min(max(int(passed_s / self.step_s), 0), len(self.rates) - 1)
        return float(self.before[step] + (passed_s - step * self.step_s) * self.rates[step])

    def after_s(self, whole: Amounts) -> Amounts:
        """On the step where the area is reached."""
        step = np.maximum(np.searchsorted(self.before, whole, side="right") - 1, 0)
        found: Amounts = step * self.step_s + (whole - self.before[step]) / self.rates[step]
        return found


class Schedule:
    """The messages of one sender, by a rate from the start on.

    Senders that share a rate begin one after the other, ``phase`` of a message apart, so that
    together they are as even as one.
    """

    def __init__(self, curve: Curve, phase: float = 0.0) -> None:
        self.curve, self.phase = curve, phase
        self.start_ns = 0

    def begin(self, start_ns: int) -> None:
        """Count from this instant."""
        self.start_ns = start_ns

    def due(self, now_ns: int) -> int:
        """How many messages are due by now, since the start."""
        whole = self.curve.whole((now_ns - self.start_ns) / NS)
        return max(0, math.floor(whole - self.phase) + 1)

    def instants_ns(self, first: int, count: int) -> NDArray[np.int64]:
        """When these messages are due."""
        whole: Amounts = np.arange(first, first + count, dtype=float) + self.phase
        offsets: NDArray[np.int64] = np.rint(self.curve.after_s(whole) * NS).astype(np.int64)
        return offsets + self.start_ns

    def instant_ns(self, number: int) -> int:
        """When this message is due."""
        return int(self.instants_ns(number, 1)[0])


def curve_of(pace: Pace, over_s: float) -> Curve:
    """The curve of a pace in a load that takes so long."""
    if pace.ramp_to is None:
        return Steady(pace.rate)
    if pace.steps is None:
        return Ramp(pace.rate, pace.ramp_to, over_s)
    return SteppedRate(pace.rate, pace.ramp_to, over_s, pace.steps, by_ratio=pace.by_ratio)


def of_thread(orders: OfThreads, number: int) -> Schedule | None:
    """When that thread of all is to send; None where it sends as fast as it can."""
    if orders.pace is None:
        return None
    return Schedule(curve_of(orders.pace, orders.load_s), number / orders.all_threads)

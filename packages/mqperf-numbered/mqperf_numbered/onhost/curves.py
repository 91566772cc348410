"""Offered rates that are constant, or grow evenly."""

import numpy as np

from mqperf.onhost.load.curves import Amounts


class Steady:
    """A constant ``rate`` per second."""

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def due(self, passed_s: float) -> float:
        """Proportional to time."""
        return passed_s * self.rate

    def after_s(self, due: Amounts) -> Amounts:
        """Proportional to messages."""
        return due / self.rate


class Ramp:
    """Linear from ``rate`` to ``last`` within ``over_s`` seconds, and constant after that."""

    def __init__(self, rate: float, last: float, over_s: float) -> None:
        self.rate, self.last, self.over_s = rate, last, over_s
        self.growth = (last - rate) / over_s
        self.in_ramp = (rate + last) / 2 * over_s

    def due(self, passed_s: float) -> float:
        """The area below the ramp."""
        if passed_s < self.over_s:
            return passed_s * (self.rate + self.growth * passed_s / 2)
        return self.in_ramp + (passed_s - self.over_s) * self.last

    def after_s(self, due: Amounts) -> Amounts:
        """In the ramp, the root of a parabola."""
        steady = self.over_s + (due - self.in_ramp) / self.last
        radicand = np.maximum(self.rate**2 + 2 * self.growth * due, 0.0)
        return np.where(due < self.in_ramp, 2 * due / (self.rate + np.sqrt(radicand)), steady)

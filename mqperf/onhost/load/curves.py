"""How an offered rate changes with time: steady, evenly, or in steps."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Amounts = NDArray[np.float64]
"""Messages, or seconds."""


class Curve(Protocol):
    """How a rate changes, as the number of messages that are due since the start."""

    def due(self, passed_s: float) -> float:
        """How many messages are due after so many seconds, fractions of one included."""
        ...

    def after_s(self, due: Amounts) -> Amounts:
        """After how many seconds so many are due: the inverse."""
        ...


class Steady:
    """``rate`` a second, all the time."""

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def due(self, passed_s: float) -> float:
        """In proportion."""
        return passed_s * self.rate

    def after_s(self, due: Amounts) -> Amounts:
        """In proportion."""
        return due / self.rate


class Ramp:
    """From ``rate`` evenly to ``last`` after ``over_s`` seconds, and steady from there on."""

    def __init__(self, rate: float, last: float, over_s: float) -> None:
        self.rate, self.last, self.over_s = rate, last, over_s
        self.growth = (last - rate) / over_s
        self.in_ramp = (rate + last) / 2 * over_s

    def due(self, passed_s: float) -> float:
        """The area below the line."""
        if passed_s < self.over_s:
            return passed_s * (self.rate + self.growth * passed_s / 2)
        return self.in_ramp + (passed_s - self.over_s) * self.last

    def after_s(self, due: Amounts) -> Amounts:
        """In the ramp, the root of a parabola."""
        steady = self.over_s + (due - self.in_ramp) / self.last
        under = np.maximum(self.rate**2 + 2 * self.growth * due, 0.0)
        return np.where(due < self.in_ramp, 2 * due / (self.rate + np.sqrt(under)), steady)


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

    def due(self, passed_s: float) -> float:
        """The area below the stairs."""
        step = min(max(int(passed_s / self.step_s), 0), len(self.rates) - 1)
        return float(self.before[step] + (passed_s - step * self.step_s) * self.rates[step])

    def after_s(self, due: Amounts) -> Amounts:
        """On the step where the area is reached."""
        step = np.maximum(np.searchsorted(self.before, due, side="right") - 1, 0)
        times: Amounts = step * self.step_s + (due - self.before[step]) / self.rates[step]
        return times

"""Curves of an offered rate over time, and the one that every generator can have: steps."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Amounts = NDArray[np.float64]
"""Messages, or seconds."""


class Curve(Protocol):
    """A rate over time, as the cumulative number of messages due since the start."""

    def due(self, passed_s: float) -> float:
        """Return the number of messages due after ``passed_s``, including a fraction."""
        ...

    def after_s(self, due: Amounts) -> Amounts:
        """Return the seconds after which these numbers of messages are due: the inverse."""
        ...


class SteppedRate:
    """From ``rate`` to ``last`` in ``steps`` of equal length; constant from the last one on.

    Steps differ by equal differences, or ``by_ratio`` by equal ratios; all take ``over_s`` seconds.
    """

    def __init__(
        self, rate: float, last: float, over_s: float, steps: int, *, by_ratio: bool = False
    ) -> None:
        self.rates = (np.geomspace if by_ratio else np.linspace)(rate, last, steps)
        self.step_s = over_s / steps
        self.before = np.concatenate([[0.0], np.cumsum(self.rates[:-1] * self.step_s)])

    def due(self, passed_s: float) -> float:
        """The area below the steps."""
        step = min(max(int(passed_s / self.step_s), 0), len(self.rates) - 1)
        return float(self.before[step] + (passed_s - step * self.step_s) * self.rates[step])

    def after_s(self, due: Amounts) -> Amounts:
        """On the step in which the area is reached."""
        step = np.maximum(np.searchsorted(self.before, due, side="right") - 1, 0)
        times: Amounts = step * self.step_s + (due - self.before[step]) / self.rates[step]
        return times

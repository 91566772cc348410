"""An offered rate of several steps that repeat in cycles."""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np

from mqperf.onhost.load.curves import Amounts


class CycleStep(NamedTuple):
    """A step of a cycle; cycles count from 1, times are seconds since the start of the load."""

    cycle: int
    rate: float
    begin_s: float
    end_s: float


class CycledRate:
    """Steps, each a rate and its length in seconds; the first follows the last."""

    def __init__(self, steps: Sequence[tuple[float, float]]) -> None:
        self.rates, lengths = np.array(steps, dtype=float).T
        ends, amounts = np.cumsum(lengths), np.cumsum(self.rates * lengths)
        self.begins, self.before = (np.append(0.0, sums[:-1]) for sums in (ends, amounts))
        self.cycle_s, self.cycle_amount = float(ends[-1]), float(amounts[-1])

    def due(self, passed_s: float) -> float:
        """Return the messages due by then: the area under whole cycles and the current one."""
        cycles, into_s = divmod(passed_s, self.cycle_s)
        step = np.searchsorted(self.begins, into_s, side="right") - 1
        in_step = (into_s - self.begins[step]) * self.rates[step]
        return float(cycles * self.cycle_amount + self.before[step] + in_step)

    def after_s(self, due: Amounts) -> Amounts:
        """Return when so many messages are due, on the step where that area is reached."""
        cycles, rest = np.divmod(due, self.cycle_amount)
        step = np.searchsorted(self.before, rest, side="right") - 1
        in_step = (rest - self.before[step]) / self.rates[step]
        times: Amounts = cycles * self.cycle_s + self.begins[step] + in_step
        return times

    def steps(self, until_s: float) -> Iterator[CycleStep]:
        """Yield the steps that begin before ``until_s``, each with its full length."""
        ends = np.append(self.begins[1:], self.cycle_s)
        for number in count():
            for rate, begin, end in zip(self.rates, self.begins, ends, strict=True):
                passed_s = number * self.cycle_s
                if passed_s + begin >= until_s:
                    return
                yield CycleStep(number + 1, float(rate), passed_s + begin, passed_s + end)

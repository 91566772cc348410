"""Detect the end of a run's warm-up from its throughput."""

import numpy as np
from numpy.typing import NDArray

from mqperf.study.series.intervals import SHORTEST_S, mean_error

LEAST_DIFFERENCE = 4.0
"""Standard errors by which the beginning must differ; half of all steady runs reach one."""


def warmup_s(rates: NDArray[np.float64]) -> int | None:
    """Whole seconds from the start of ``rates``, one per second, that belong to the warm-up.

    The marginal standard error rule: cut where the error of the mean of the rest is smallest
    (K. P. White, An Effective Truncation Heuristic for Bias Reduction in Simulation Output, 1997;
    K. Hoad, S. Robinson, R. Davies, Automating Warm-up Length Estimation, 2010).  As it may cut a
    steady series too, the result is zero unless what it cuts differs clearly from the rest.  None
    when the series is too short, or not steady even in its second half.
    """
    seconds = len(rates)
    if seconds < SHORTEST_S:
        return None
    cut = _least_error(rates)
    if cut == 0:
        return 0
    if cut >= seconds // 2:
        return None
    rest = rates[cut:]
    error = mean_error(rest)
    if error is None:
        return None
    noise = error * np.sqrt(1 + len(rest) / cut)
    return cut if abs(rates[:cut].mean() - rest.mean()) > LEAST_DIFFERENCE * noise else 0


def _least_error(rates: NDArray[np.float64]) -> int:
    """How many values to drop, at most half, so that the rest has the smallest standard error."""
    backwards = rates[::-1] - rates.mean()
    remaining = np.arange(1, len(rates) + 1)
    sum_of_squares = np.cumsum(backwards**2) - np.cumsum(backwards) ** 2 / remaining
    errors = (sum_of_squares / remaining**2)[::-1]
    return int(np.argmin(errors[: len(rates) // 2 + 1]))

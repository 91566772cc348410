"""95 % intervals from within one run, whose neighbouring seconds resemble each other.

The window is cut into ten batches of whole seconds, and the means of the batches are treated as
independent: B. Schmeiser, Batch Size Effects in the Analysis of Simulation Output (1982) shows that
ten to thirty batches lose little.  Where they still resemble each other, their variance is raised
by (1 + r) / (1 - r), r being the correlation of neighbouring batches: N. M. Steiger et al., ASAP3:
A Batch Means Procedure for Steady-State Simulation Analysis (2005).  Batch means were preferred to
a moving-block bootstrap because they need no random numbers and one pass over the messages.

Such an interval says how well this one run knows its own mean.  It does not know how much the next
run will differ: only repeats tell.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import stats

CONFIDENCE = 0.95
BATCHES = 10

SHORTEST_S = 2 * BATCHES
"""Seconds below which a run gives no interval rather than a wrong one.

With a correlation of 0.5 between seconds, 91 % of the intervals of 20 s hold the truth, and 95 % of
those of 60 s; the tests measure it.
"""

CORRELATION_LIMIT = 0.7
"""Neighbouring batches that resemble each other more than this are a trend, not noise."""

Array = NDArray[np.float64]
Interval = tuple[float, float]


def ratio_interval(totals: Array, counts: Array) -> Interval | None:
    """The interval of sum(totals) / sum(counts), both given per second of the window.

    With counts of one it is that of a mean per second; with sums of latency and counts of messages,
    that of the mean latency.  None when the window is too short or never steady.
    """
    error = _ratio_error(totals, counts) if len(counts) >= SHORTEST_S else None
    if error is None:
        return None
    centre, half = float(totals.sum() / counts.sum()), _quantile_of_t() * error
    return centre - half, centre + half


def level_interval(level: float, below: Array, counts: Array) -> Interval | None:
    """The levels between which the quantile at ``level`` lies; below: messages under its estimate.

    Both arrays are per second.  The share of messages below has an error of which the effective
    number of independent messages follows, and of that the exact binomial interval: R. S. Woodruff,
    Confidence Intervals for Medians and Other Position Measures (1952); E. L. Korn and
    B. I. Graubard, Confidence Intervals for Proportions with Small Expected Number of Positive
    Counts (1998).  None when the effective number is too small for so extreme a quantile.
    """
    error = _ratio_error(below, counts) if len(counts) >= SHORTEST_S else None
    if error is None:
        return None
    samples = float(counts.sum())
    independent = samples if error == 0 else min(samples, level * (1 - level) / error**2)
    independent *= (stats.norm.ppf((1 + CONFIDENCE) / 2) / _quantile_of_t()) ** 2
    tail = (1 - CONFIDENCE) / 2
    if max(level, 1 - level) ** independent > tail:
        return None
    under, over = level * independent, (1 - level) * independent
    low = stats.beta.ppf(tail, under, over + 1)
    return float(low), float(stats.beta.ppf(1 - tail, under + 1, over))


def mean_error(values: Array) -> float | None:
    """Standard error of the mean of a series, in spite of its correlation.

    None when it has fewer than ten values or never becomes steady.
    """
    return _ratio_error(values, np.ones(len(values)))


def _ratio_error(totals: Array, counts: Array) -> float | None:
    length = len(counts) // BATCHES
    if not length or not counts.sum():
        return None
    deviations = totals - totals.sum() / counts.sum() * counts
    batches = deviations[-BATCHES * length :].reshape(BATCHES, length).sum(axis=1) / length
    correlation = _correlation(batches)
    if correlation > CORRELATION_LIMIT:
        return None
    raised = (1 + correlation) / (1 - correlation)
    return float(np.sqrt(batches.var(ddof=1) / BATCHES * raised) / counts.mean())


def _correlation(batches: Array) -> float:
    """Of neighbours, corrected for the bias of few; a negative one is no reason to trust more."""
    around = batches - batches.mean()
    power = float((around**2).sum())
    if power == 0:
        return 0.0
    return max(0.0, float((around[1:] * around[:-1]).sum()) / power + 1 / len(batches))


@cache
def _quantile_of_t() -> float:
    return float(stats.t.ppf((1 + CONFIDENCE) / 2, BATCHES - 1))

"""95 % intervals from within one run, whose neighbouring seconds resemble each other.

The window is cut into batches of whole seconds, and the means of the batches are treated as
independent: B. Schmeiser, Batch Size Effects in the Analysis of Simulation Output (1982).  Where
they still resemble each other, their variance is raised by (1 + r) / (1 - r), r being the
correlation of neighbouring batches: N. M. Steiger et al., ASAP3: A Batch Means Procedure for
Steady-State Simulation Analysis (2005).  Batch means were preferred to a moving-block bootstrap
because they need no random numbers and one pass over the messages.

Few batches do not tell that they are alike.  So no interval is narrower than that of the seconds
themselves, with the variance raised in the same way and as many degrees of freedom as half of them
are independent: G. V. Bayley and J. M. Hammersley, The Effective Number of Independent Observations
in an Autocorrelated Time Series (1946).

What the data do not allow gives no interval: too short a window, a trend, a sum that few seconds
make, a percentile beyond which few seconds lie.  ``benchmarks/simulated.py`` measures how often
the intervals hold the truth.

Such an interval says how well this one run knows its own mean.  It does not know how much the next
run will differ: only repeats tell.  Nor does it know of what happens less than a few times in its
window.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

CONFIDENCE = 0.95
NORMAL = float(special.ndtri((1 + CONFIDENCE) / 2))

BATCH_S = 15
"""Seconds of a batch, as far as the window allows: long against what lets seconds be alike."""

FEWEST_BATCHES = 4
MOST_BATCHES = 10

SHORTEST_S = 20
"""Seconds below which a run gives no interval rather than a wrong one."""

FEWEST_SECONDS = 5.0
"""Seconds that must make an interval, in effect: fewer are single events, not noise."""

FEWEST_SHARE = 0.1
"""Share of the window that these seconds must be for a mean, too; of normal noise it is a third.
A percentile has its own rule for windows that hold little of what makes it."""

ALIKE = 2.0
"""Variance of counts per second, over that of independent messages, above which the seconds and
not the messages are the sample."""

CORRELATION_LIMIT = 0.7
"""Neighbouring tenths of the window that resemble each other more are a trend, not noise."""

MOST_ALIKE = 0.9
"""What the correlation of neighbouring seconds counts as at most: more is a trend."""

LEAST_FREEDOM = 2
"""Degrees of freedom that the error of the seconds has at least: with one, an interval is so wide
that it says nothing."""

Array = NDArray[np.float64]
Interval = tuple[float, float]


def ratio_interval(totals: Array, counts: Array) -> Interval | None:
    """The interval of sum(totals) / sum(counts), both given per second of the window.

    With counts of one it is that of a mean per second; with sums of latency and counts of messages,
    that of the mean latency.  Its lower end is not below zero where no total is: that cuts off what
    cannot be, and the interval holds the truth as often.  None when the window is too short or not
    steady, or when fewer than five seconds, or a tenth of them, make the differences in effect.
    """
    margin = _error(totals, counts, max(FEWEST_SECONDS, FEWEST_SHARE * len(counts)))
    if margin is None:
        return None
    centre = float(totals.sum() / counts.sum())
    low = centre - margin.half
    return low if totals.min() < 0 else max(0.0, low), centre + margin.half


def level_interval(level: float, below: Array, counts: Array) -> Interval | None:
    """The levels between which the quantile at ``level`` lies; below: messages under its estimate.

    Both arrays are per second.  The share of messages below has an error of which the effective
    number of independent messages follows, and of that the exact binomial interval: R. S. Woodruff,
    Confidence Intervals for Medians and Other Position Measures (1952); E. L. Korn and
    B. I. Graubard, Confidence Intervals for Proportions with Small Expected Number of Positive
    Counts (1998).  None as for a mean; when the effective number is too small for so extreme a
    quantile; and when messages of one second are alike, but fewer than five seconds of the window
    fit beyond the quantile: p90 then takes 50 s, p95 100 s, p99 500 s.
    """
    margin = _error(below, counts, FEWEST_SECONDS)
    beyond = round(len(counts) * min(level, 1 - level), 6)  # if each second were one message
    if margin is None or (_alike(level, below, counts) and beyond < FEWEST_SECONDS):
        return None
    samples, error = float(counts.sum()), margin.error
    independent = samples if error == 0 else min(samples, level * (1 - level) / error**2)
    independent *= (NORMAL / margin.quantile) ** 2
    tail = (1 - CONFIDENCE) / 2
    if max(level, 1 - level) ** independent > tail:
        return None
    under, over = level * independent, (1 - level) * independent
    low = special.betaincinv(under, over + 1, tail)
    return float(low), float(special.betaincinv(under + 1, over, 1 - tail))


def mean_error(values: Array) -> float | None:
    """Standard error of the mean of a series, in spite of its correlation, from ten batches.

    None when it has fewer than ten values or never becomes steady.
    """
    if len(values) < MOST_BATCHES:
        return None
    means = _batch_means(values - values.mean(), MOST_BATCHES)
    return _error_of_batches(means) if _correlation(means) <= CORRELATION_LIMIT else None


@dataclass(frozen=True, slots=True)
class Error:
    """A standard error, and the quantile of Student's t by which it is multiplied."""

    error: float
    quantile: float

    @property
    def half(self) -> float:
        """Half of the interval's width."""
        return self.error * self.quantile


def _error(totals: Array, counts: Array, fewest: float) -> Error | None:
    """Standard error of the ratio; None when the data do not allow an interval."""
    if len(counts) < SHORTEST_S or not counts.sum():
        return None
    deviations = totals - totals.sum() / counts.sum() * counts
    tenths = _batch_means(deviations, MOST_BATCHES)
    if _correlation(tenths) > CORRELATION_LIMIT or _effective(deviations) < fewest:
        return None
    batches = min(MOST_BATCHES, max(FEWEST_BATCHES, len(counts) // BATCH_S))
    means = _batch_means(deviations, batches)
    mean = float(counts.mean())
    of_batches = Error(_error_of_batches(means) / mean, _quantile_of_t(len(means) - 1))
    error, freedom = _error_of_seconds(deviations)
    of_seconds = Error(error / mean, _quantile_of_t(freedom))
    return max(of_batches, of_seconds, key=lambda margin: margin.half)


def _batch_means(deviations: Array, batches: int) -> Array:
    """Means of equally long batches; what does not fill one is left out at the beginning."""
    length = len(deviations) // batches
    means: Array = deviations[-batches * length :].reshape(batches, length).mean(axis=1)
    return means


def _error_of_batches(means: Array) -> float:
    # Four batches may by chance be one line: then the limit of a trend bounds the raise, too.
    correlation = min(_correlation(means), CORRELATION_LIMIT)
    raised = (1 + correlation) / (1 - correlation)
    return float(np.sqrt(means.var(ddof=1) / len(means) * raised))


def _error_of_seconds(deviations: Array) -> tuple[float, int]:
    """Standard error of the mean, each second being like the one before, and its freedom.

    The correlation of few values is estimated too low, by (1 + 4 r) / n: M. G. Kendall, Note on
    Bias in the Estimation of Autocorrelation (1954).
    """
    seconds, power = len(deviations), float((deviations**2).sum())
    if power == 0:
        return 0.0, seconds - 1
    seen = float((deviations[1:] * deviations[:-1]).sum()) / power
    correlation = min(max(0.0, (seconds * seen + 1) / (seconds - 4)), MOST_ALIKE)
    independent = seconds * (1 - correlation) / (1 + correlation)
    error = float(np.sqrt(power / (seconds - 1) / independent))
    return error, max(LEAST_FREEDOM, int(independent / 2))


def _effective(deviations: Array) -> float:
    """How many seconds make the differences: the degrees of freedom of their variance.

    F. E. Satterthwaite, An Approximate Distribution of Estimates of Variance Components (1946).
    One second that outweighs all others counts as one; equal ones count as they are many.
    """
    squares = deviations**2
    power = float((squares**2).sum())
    return float(squares.sum()) ** 2 / power if power else float(len(deviations))


def _alike(level: float, below: Array, counts: Array) -> bool:
    """Whether the messages of one second are alike: the design effect of L. Kish (1965)."""
    deviations = below - level * counts
    independent = level * (1 - level) * float(counts.sum())
    return float((deviations**2).sum()) > ALIKE * independent


def _correlation(batches: Array) -> float:
    """Of neighbours, corrected for the bias of few; a negative one is no reason to trust more."""
    around = batches - batches.mean()
    power = float((around**2).sum())
    if power == 0:
        return 0.0
    return max(0.0, float((around[1:] * around[:-1]).sum()) / power + 1 / len(batches))


@cache
def _quantile_of_t(freedom: int) -> float:
    return float(special.stdtrit(freedom, (1 + CONFIDENCE) / 2))

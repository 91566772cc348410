"""95 % confidence intervals from a single run, whose seconds are autocorrelated.

The window is cut into batches of whole seconds, and the means of the batches are treated as
independent: B. Schmeiser, Batch Size Effects in the Analysis of Simulation Output (1982).  If they
are still correlated, their variance is multiplied by (1 + r) / (1 - r), r being the correlation of
neighbouring batches: N. M. Steiger et al., ASAP3: A Batch Means Procedure for Steady-State
Simulation Analysis (2005).  Batch means were preferred to a moving-block bootstrap because they
need no random numbers and one pass over the messages.

The correlation of few batches is hard to detect.  So no interval is narrower than that of the
seconds themselves, with the variance raised in the same way and half their effective number as
degrees of freedom: G. V. Bayley and J. M. Hammersley, The Effective Number of Independent
Observations in an Autocorrelated Time Series (1946).

There is no interval for a window that is too short, a trend, a sum dominated by few seconds, or a
percentile with few seconds beyond it.  ``benchmarks/simulated.py`` measures the coverage of the
intervals.

Such an interval is the uncertainty of the mean of this run.  It does not include the variation
between runs, for which repeats are needed, nor events that are rare within the window.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

CONFIDENCE = 0.95
NORMAL = float(special.ndtri((1 + CONFIDENCE) / 2))

BATCH_S = 15
"""Seconds per batch, if the window allows: long compared with the autocorrelation."""

FEWEST_BATCHES = 4
MOST_BATCHES = 10

SHORTEST_S = 20
"""Shortest window, in seconds, for which an interval is computed."""

FEWEST_SECONDS = 5.0
"""Least effective number of seconds for an interval: fewer are single events, not noise."""

FEWEST_SHARE = 0.1
"""Least share of the window, for a mean, that effective seconds must be; a third for normal noise.
For percentiles, ``level_interval`` has its own rule."""

CLUSTERED = 2.0
"""Ratio of the variance of counts per second to that of independent messages, above which the
seconds, not the messages, are the sample."""

CORRELATION_LIMIT = 0.7
"""A higher correlation of neighbouring tenths of the window is a trend, not noise."""

MOST_CORRELATION = 0.9
"""Upper bound applied to the correlation of neighbouring seconds: more is a trend."""

LEAST_FREEDOM = 2
"""Least degrees of freedom of the error of the seconds: with one, an interval is too wide to be of
use."""

Array = NDArray[np.float64]
Interval = tuple[float, float]


def ratio_interval(totals: Array, counts: Array) -> Interval | None:
    """The interval of sum(totals) / sum(counts), both given per second of the window.

    With counts of one it is that of a mean per second; with sums of latency and counts of messages,
    that of the mean latency.  Its lower end is clipped at zero if no total is negative, which does
    not change the coverage.  None when the window is too short or not steady, or when the effective
    number of seconds is below five or a tenth of the window.
    """
    margin = _margin(totals, counts, max(FEWEST_SECONDS, FEWEST_SHARE * len(counts)))
    if margin is None:
        return None
    centre = float(totals.sum() / counts.sum())
    low = centre - margin.half_width
    return low if totals.min() < 0 else max(0.0, low), centre + margin.half_width


def level_interval(level: float, below: Array, counts: Array) -> Interval | None:
    """The levels between which the quantile at ``level`` lies; below: messages under its estimate.

    Both arrays are per second.  The error of the share of messages below gives the effective number
    of independent messages, and that the exact binomial interval: R. S. Woodruff, Confidence
    Intervals for Medians and Other Position Measures (1952); E. L. Korn and B. I. Graubard,
    Confidence Intervals for Proportions with Small Expected Number of Positive Counts (1998).
    None as for a mean; when the effective number is too small for so extreme a quantile; and when
    messages are clustered by second, but fewer than five seconds of the window lie beyond the
    quantile: p90 then takes 50 s, p95 100 s, p99 500 s.
    """
    margin = _margin(below, counts, FEWEST_SECONDS)
    beyond = round(len(counts) * min(level, 1 - level), 6)  # if each second were one message
    if margin is None or (_is_clustered(level, below, counts) and beyond < FEWEST_SECONDS):
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
    """Standard error of the mean of an autocorrelated series, from ten batches.

    None when it has fewer than ten values or never becomes steady.
    """
    if len(values) < MOST_BATCHES:
        return None
    means = _batch_means(values - values.mean(), MOST_BATCHES)
    return _error_of_batches(means) if _correlation(means) <= CORRELATION_LIMIT else None


@dataclass(frozen=True, slots=True)
class _Margin:
    """A standard error, and the quantile of Student's t by which it is multiplied."""

    error: float
    quantile: float

    @property
    def half_width(self) -> float:
        """Half of the interval's width."""
        return self.error * self.quantile


def _margin(totals: Array, counts: Array, least_seconds: float) -> _Margin | None:
    """Margin of the ratio of sums; None when the data do not allow an interval."""
    if len(counts) < SHORTEST_S or not counts.sum():
        return None
    deviations = totals - totals.sum() / counts.sum() * counts
    tenths = _batch_means(deviations, MOST_BATCHES)
    if _correlation(tenths) > CORRELATION_LIMIT or _effective_seconds(deviations) < least_seconds:
        return None
    batches = min(MOST_BATCHES, max(FEWEST_BATCHES, len(counts) // BATCH_S))
    means = _batch_means(deviations, batches)
    mean = float(counts.mean())
    of_batches = _Margin(_error_of_batches(means) / mean, _quantile_of_t(len(means) - 1))
    error, freedom = _error_of_seconds(deviations)
    of_seconds = _Margin(error / mean, _quantile_of_t(freedom))
    return max(of_batches, of_seconds, key=lambda margin: margin.half_width)


def _batch_means(deviations: Array, batches: int) -> Array:
    """Means of equally long batches; surplus values at the beginning are left out."""
    length = len(deviations) // batches
    means: Array = deviations[-batches * length :].reshape(batches, length).mean(axis=1)
    return means


def _error_of_batches(means: Array) -> float:
    # Four batches may form a line by chance: the limit for trends bounds the inflation as well.
    correlation = min(_correlation(means), CORRELATION_LIMIT)
    inflation = (1 + correlation) / (1 - correlation)
    return float(np.sqrt(means.var(ddof=1) / len(means) * inflation))


def _error_of_seconds(deviations: Array) -> tuple[float, int]:
    """Standard error of the mean of autocorrelated seconds, and its degrees of freedom.

    The sample correlation of n values is too low by (1 + 4 r) / n, which is corrected: M. G.
    Kendall, Note on Bias in the Estimation of Autocorrelation (1954).
    """
    seconds, sum_of_squares = len(deviations), float((deviations**2).sum())
    if sum_of_squares == 0:
        return 0.0, seconds - 1
    observed = float((deviations[1:] * deviations[:-1]).sum()) / sum_of_squares
    correlation = min(max(0.0, (seconds * observed + 1) / (seconds - 4)), MOST_CORRELATION)
    independent = seconds * (1 - correlation) / (1 + correlation)
    error = float(np.sqrt(sum_of_squares / (seconds - 1) / independent))
    return error, max(LEAST_FREEDOM, int(independent / 2))


def _effective_seconds(deviations: Array) -> float:
    """Effective number of seconds with deviations: the degrees of freedom of their variance.

    F. E. Satterthwaite, An Approximate Distribution of Estimates of Variance Components (1946).
    It is 1 if one second outweighs all others, and their number if all deviations are equal.
    """
    squares = deviations**2
    fourth_powers = float((squares**2).sum())
    return float(squares.sum()) ** 2 / fourth_powers if fourth_powers else float(len(deviations))


def _is_clustered(level: float, below: Array, counts: Array) -> bool:
    """Whether messages are clustered by second: the design effect of L. Kish (1965) is high."""
    deviations = below - level * counts
    independent_variance = level * (1 - level) * float(counts.sum())
    return float((deviations**2).sum()) > CLUSTERED * independent_variance


def _correlation(batches: Array) -> float:
    """Correlation of neighbours, corrected for small-sample bias; a negative one counts as zero."""
    deviations = batches - batches.mean()
    squares = float((deviations**2).sum())
    if squares == 0:
        return 0.0
    return max(0.0, float((deviations[1:] * deviations[:-1]).sum()) / squares + 1 / len(batches))


@cache
def _quantile_of_t(freedom: int) -> float:
    return float(special.stdtrit(freedom, (1 + CONFIDENCE) / 2))

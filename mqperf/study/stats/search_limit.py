"""The limit of a search with its interval, from every run: the rate at which half of the runs hold.

Chance decides single runs near the limit, so the bracket of a bisection may miss it.  All runs
together are modelled by a line of two slopes: the logarithm of (latency / allowed latency), against
that of the rate, is zero at the limit, has the slope b below it and b, or twice b, above, and has
normal noise of one deviation.  From ``FARTHEST`` on a run tells only on which side it is, as in the
regression of J. Tobin, Estimation of Relationships for Limited Dependent Variables, Econometrica
26, 1958; so does a run without such a latency: the line is then the psychometric function of a
probit.  The likelihood is summed over a grid of rates, slopes and deviations, uniform in their
logarithms (H. Jeffreys, Theory of Probability, 1939); the interval has the middle 95 % of the
posterior, and the bracket.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from mqperf.study.series.intervals import CONFIDENCE

FARTHEST = log(2)
"""The logarithm of (latency / allowed latency), up or down, from which on only its sign counts."""

GRID_MARGIN = 1.0
"""How far beyond the bracket the grid of rates goes, as the logarithm of the rate."""

RATES = 160
SLOPES = np.geomspace(1, 30, 7)
NOISES = np.geomspace(0.03, 1, 9)
BENDS = (1, 2)
"""The grid: a number of rates; slopes below the limit; noises; factors of the slope above it."""

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Tried:
    """A run of a search: its rate, whether it held, and ``margin``.

    That is the logarithm of (latency / allowed latency), None where latency did not decide.
    """

    rate: float
    held: bool
    margin: float | None = None


@dataclass(frozen=True, slots=True)
class Limit:
    """The median of the posterior of the limit, and the ends of its 95 % interval; rates."""

    rate: float
    low: float
    high: float


def limit(runs: Sequence[Tried], low: float, high: float) -> Limit:
    """The limit by all runs of a search that ended with the bracket ``low`` to ``high``."""
    rates = np.linspace(log(low) - GRID_MARGIN, log(high) + GRID_MARGIN, RATES)
    slopes, bends, noises = np.array([*product(SLOPES, BENDS, NOISES)]).T
    log_sums = sum(_likelihood(run, rates[:, np.newaxis], slopes, bends, noises) for run in runs)
    weights = np.exp(log_sums - np.max(log_sums)).sum(axis=1)
    cumulative = (np.cumsum(weights) - weights / 2) / weights.sum()
    levels = (0.5, (1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)
    middle, least, most = np.exp(np.interp(levels, cumulative, rates))
    return Limit(float(middle), min(float(least), low), max(float(most), high))


def _likelihood(run: Tried, rates: Array, slopes: Array, bends: Array, noises: Array) -> Array:
    """The logarithm of the likelihood of a run, with the limit at each of the rates."""
    beyond = log(run.rate) - rates
    line = beyond * slopes * np.where(beyond > 0, bends, 1)
    if run.margin is not None and abs(run.margin) < FARTHEST:
        return np.asarray(-(((run.margin - line) / noises) ** 2) / 2 - np.log(noises))
    least = 0.0 if run.margin is None else FARTHEST
    return np.asarray(special.log_ndtr(((-1 if run.held else 1) * line - least) / noises))

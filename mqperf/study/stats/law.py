"""The Universal Scalability Law, fitted to the runs of a sweep of threads.

N. J. Gunther (Guerrilla Capacity Planning, 2007) says of the throughput X of N threads

    X(N) = X(1) N / (1 + alpha (N - 1) + beta N (N - 1)),  its peak at  sqrt((1 - alpha) / beta).

Inverted, N / X = d + b N + c N (N - 1) with no negative coefficient, fitted by non-negative
least squares (C. L. Lawson and R. J. Hanson, Solving Least Squares Problems, 1974) of the relative
error.  Then alpha = b / (d + b), beta = c / (d + b), and the peak is at sqrt(d / c).
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from mqperf.study.series.intervals import CONFIDENCE

WORST_FIT = 0.1
"""Typical relative error of the fit above which the law does not describe the sweep."""

FEWEST_FREEDOM = 3
"""Degrees of freedom below which the error of runs is not estimated."""

EXACT = 1e-6
"""Largest relative error of a fit that rounding explains."""

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Law:
    """A fitted curve: ``N / X = alone + shared N + mutual N (N - 1)``, in seconds."""

    alone: float
    shared: float
    mutual: float

    def __call__(self, threads: Array) -> Array:
        """Throughput at these numbers of threads."""
        return threads / (_terms(threads) @ [self.alone, self.shared, self.mutual])

    @property
    def single_s(self) -> float:
        """Seconds that a message takes with a single thread."""
        return self.alone + self.shared

    @property
    def peak(self) -> float:
        """Threads at which throughput is highest; infinite when it never falls."""
        return float(np.sqrt(self.alone / self.mutual)) if self.mutual > 0 else np.inf


@dataclass(frozen=True, slots=True)
class Fit:
    """A law with its typical relative error, and whether the repeats refute it."""

    law: Law
    error: float
    freedom: int
    refuted: bool | None
    """None when there are too few repeats to test it."""

    @property
    def describes(self) -> bool:
        """Whether the law describes the runs well enough to be used."""
        return self.error <= WORST_FIT and self.law.single_s > 0 and not self.refuted


@dataclass(frozen=True, slots=True)
class Noise:
    """Standard deviation of the logarithm of one run's throughput, and its degrees of freedom."""

    deviation: float
    freedom: int


def fit(threads: Array, throughput: Array) -> Law:
    """The law with the least sum of squared relative errors; both arrays hold one value per run."""
    from scipy.optimize import nnls  # slow to load

    weights = (throughput / threads)[:, np.newaxis]
    return Law(*map(float, nnls(weights * _terms(threads), np.ones(len(threads)))[0]))


def noise_of(threads: Array, throughput: Array) -> Noise | None:
    """The noise of repeats, pooled over the thread counts; None when there are too few repeats."""
    logs = pd.Series(np.log(throughput)).groupby(threads)
    freedom = len(threads) - logs.ngroups
    if freedom < FEWEST_FREEDOM:
        return None
    squares = float(((logs.transform("mean") - np.log(throughput)) ** 2).sum())
    return Noise((squares / freedom) ** 0.5, freedom)


def fitted(threads: Array, throughput: Array, noise: Noise | None) -> Fit:
    """The fitted law; an F test of lack of fit tells whether its errors exceed the noise."""
    law = fit(threads, throughput)
    freedom = len(threads) - 3
    squares = float(((throughput / law(threads) - 1) ** 2).sum()) if law.single_s else np.inf
    error = (squares / freedom) ** 0.5
    if noise is None:
        return Fit(law, error, freedom, refuted=None)
    if noise.deviation == 0:
        return Fit(law, error, freedom, refuted=error > EXACT)
    freedom_of_lack = freedom - noise.freedom
    lack = (squares / noise.deviation**2 - noise.freedom) / freedom_of_lack
    p_value = float(special.fdtrc(freedom_of_lack, noise.freedom, lack))
    return Fit(law, error, freedom, refuted=p_value < 1 - CONFIDENCE)


def _terms(threads: Array) -> Array:
    return np.column_stack([np.ones_like(threads), threads, threads * (threads - 1)])

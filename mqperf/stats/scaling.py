"""Where a sweep of threads saturates: the fitted peak, and the knee of the bounds.

The Universal Scalability Law (N. J. Gunther, Guerrilla Capacity Planning, 2007) says of N threads

    X(N) = X(1) N / (1 + alpha (N - 1) + beta N (N - 1)),  its peak at  sqrt((1 - alpha) / beta).

Turned over, N / X = d + b N + c N (N - 1) with no negative part, which is fitted by non-negative
least squares (C. L. Lawson and R. J. Hanson, Solving Least Squares Problems, 1974) of the relative
error.  Then alpha = b / (d + b), beta = c / (d + b), and the peak is at sqrt(d / c).

The bounds of a closed network without think time (P. J. Denning and J. P. Buzen, The Operational
Analysis of Queueing Network Models, 1978) are X <= N / R0 and X <= Xmax; they cross at the knee
N = R0 Xmax.  R0 is the fitted time of one message alone, Xmax the best throughput measured.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import nnls

from mqperf.stats.summary import CONFIDENCE, run_figures
from mqperf.tables import Tables, conform

FEWEST = 4
"""Thread counts below which three parameters say nothing."""

WORST_FIT = 0.15
"""Typical relative error of the fit above which the law does not describe the sweep."""

DRAWS = 1000
SEED = 1

Array = NDArray[np.float64]
Range = tuple[float, float]
SWEEP = ["system", "topology", "queues", "test_case"]


@dataclass(frozen=True, slots=True)
class Law:
    """A fitted curve: ``N / X = alone + shared N + mutual N (N - 1)``, in seconds."""

    alone: float
    shared: float
    mutual: float

    def __call__(self, threads: Array) -> Array:
        """Throughput of so many threads."""
        return threads / (_terms(threads) @ [self.alone, self.shared, self.mutual])

    @property
    def single_s(self) -> float:
        """Seconds that a message takes alone, with one thread."""
        return self.alone + self.shared

    @property
    def peak(self) -> float:
        """Threads at which throughput is highest; infinite when it never falls."""
        return float(np.sqrt(self.alone / self.mutual)) if self.mutual > 0 else np.inf


def fit(threads: Array, throughput: Array) -> Law:
    """The law with the least sum of squared relative errors; both arrays hold one value per run."""
    weights = (throughput / threads)[:, np.newaxis]
    return Law(*map(float, nnls(weights * _terms(threads), np.ones(len(threads)))[0]))


def knees(tables: Tables) -> pd.DataFrame:
    """One row per sweep of threads: its peak and knee with 95 % intervals, and both as a sentence.

    ``peak_lies`` is ``cannot tell`` with fewer than four thread counts or when the law does not
    describe the sweep; ``beyond`` or ``below`` when the fitted peak is outside the counts measured.
    Ends of its interval that are outside are empty: the law is not trusted there.
    """
    runs = tables["runs"]
    figures = run_figures(tables)[["run", "throughput_msg_s"]]
    frame = runs[["run", *SWEEP, "threads"]].merge(figures, on="run")
    frame = frame[frame["throughput_msg_s"].gt(0) & frame["threads"].notna()]
    rows = [
        dict(zip(SWEEP, names, strict=True)) | knee(sweep)
        for names, sweep in frame.groupby(SWEEP, sort=False)
    ]
    return conform("knees", pd.DataFrame(rows))


def knee(sweep: pd.DataFrame) -> dict[str, float | str | None]:
    """The row of one sweep; of ``sweep`` it takes ``threads`` and ``throughput_msg_s`` per run."""
    threads = sweep["threads"].to_numpy(dtype=float)
    throughput = sweep["throughput_msg_s"].to_numpy(dtype=float)
    counts = np.unique(threads)
    known: dict[str, float | str | None] = {"points": len(counts), "peak_lies": "cannot tell"}
    if len(counts) < FEWEST:
        some = "1 thread count was" if len(counts) == 1 else f"{len(counts)} thread counts were"
        return known | {"text": f"Cannot tell where the peak lies: {some} measured, not {FEWEST}."}
    law = fit(threads, throughput)
    freedom = len(threads) - 3
    errors = throughput / law(threads) - 1
    known["fit_error"] = error = float(np.sqrt((errors**2).sum() / freedom))
    if error > WORST_FIT or law.single_s == 0:
        return known | {
            "text": "Cannot tell where the peak lies: the Universal Scalability Law misses the runs"
            f" by {error:.0%}."
        }
    known |= {"contention": law.shared / law.single_s, "coherency": law.mutual / law.single_s}
    peaks, bounds = _intervals(law, threads, error, freedom)
    ends = float(counts[0]), float(counts[-1])
    crossing = _knee(law, threads, throughput)
    return known | {
        "peak_threads": _within(law.peak, (0, np.inf)),
        "peak_threads_low": _within(peaks[0], ends),
        "peak_threads_high": _within(peaks[1], ends),
        "knee_threads": crossing,
        "knee_threads_low": bounds[0],
        "knee_threads_high": bounds[1],
        "peak_lies": _where(law.peak, ends),
        "text": f"{_peak_text(law.peak, peaks, ends)}; {_knee_text(crossing, ends)}.",
    }


def _within(threads: float, ends: Range) -> float | None:
    return threads if ends[0] <= threads <= ends[1] and 0 < threads < np.inf else None


def _where(peak: float, ends: Range) -> str:
    return "below" if peak < ends[0] else "beyond" if peak > ends[1] else "inside"


def _terms(threads: Array) -> Array:
    return np.column_stack([np.ones_like(threads), threads, threads * (threads - 1)])


def _knee(law: Law, threads: Array, throughput: Array) -> float:
    means = [throughput[threads == count].mean() for count in np.unique(threads)]
    return float(law.single_s * max(means))


def _intervals(law: Law, threads: Array, error: float, freedom: int) -> tuple[Range, Range]:
    """Intervals of peak and knee: a parametric bootstrap around the law.

    B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 6.  As few runs
    know their own error badly, each draw has its own, from the chi-squared distribution.
    """
    random = np.random.default_rng(SEED)
    expected = law(threads)
    draws = np.array(
        [
            (drawn.peak, _knee(drawn, threads, rates))
            for rates in _redrawn(expected, error, freedom, random)
            if (drawn := fit(threads, rates)).single_s > 0
        ]
    )
    tails = [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]
    # Infinite peaks are sound draws: no interpolation between them and a number.
    low, high = np.quantile(draws, tails, axis=0, method="nearest")
    return (float(low[0]), float(high[0])), (float(low[1]), float(high[1]))


def _redrawn(
    expected: Array, error: float, freedom: int, random: np.random.Generator
) -> Iterator[Array]:
    for _ in range(DRAWS):
        sigma = error * np.sqrt(freedom / random.chisquare(freedom))
        yield expected * np.exp(sigma * random.standard_normal(len(expected)))


def _peak_text(peak: float, interval: Range, ends: Range) -> str:
    (low, high), (least, most) = interval, ends
    if peak < least:
        return f"The peak lies below the sweep, under {_number(least)} threads"
    downwards = _number(low) if low >= least else "below the sweep"
    if peak <= most:
        upwards = _number(high) if high <= most else "beyond the sweep"
        where = f"The peak is at {_number(peak)} threads"
        return f"{where} (95 % interval: {downwards} to {upwards})"
    beyond = f"The peak lies beyond the sweep, above {_number(most)} threads"
    return beyond if low > most else f"{beyond} (95 % interval: from {downwards})"


def _knee_text(crossing: float, ends: Range) -> str:
    below = ", below the sweep" if crossing < ends[0] else ""
    return f"the bounds cross at {_number(crossing)} threads{below}"


def _number(threads: float) -> str:
    return f"{threads:,.0f}" if threads >= 10 else f"{threads:.2g}"

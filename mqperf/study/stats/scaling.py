"""Where a sweep of threads saturates: its peak, if it has one, and its saturation point.

A peak is claimed only where throughput falls after its best by more than chance explains.  The
thread counts that may be the best are found by multiple comparisons with the best (J. C. Hsu,
Constrained Simultaneous Confidence Intervals for Multiple Comparisons with the Best, 1984), with
the error of the repeats.  Throughput is assumed to rise once and to fall once: then the peak is
between the neighbours of those counts.

The bounds of a closed network (P. J. Denning and J. P. Buzen, The Operational
Analysis of Queueing Network Models, 1978) are X <= N / R0 and X <= Xmax; they cross at the
saturation point N = R0 Xmax.  R0 is the fitted time of one message alone, Xmax the best
throughput measured.  Where threads pause after each message (think time Z), the lower bound is
X <= N / (R0 + Z): the fitted time of one message holds the pause, and they cross at
N = (R0 + Z) Xmax.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from mqperf.plan.columns import parameters
from mqperf.study.series.intervals import CONFIDENCE
from mqperf.study.stats.compare import CANNOT_TELL
from mqperf.study.stats.law import FEWEST_FREEDOM, Array, Fit, Noise, fit, fitted, noise_of
from mqperf.study.stats.summary import run_figures, with_doubts
from mqperf.study.tables import Tables, at, conform, curves, empty, varied
from mqperf.study.tables.axes import FACTORS, SWEEP
from mqperf.study.tables.axis_words import Value, worded

FEWEST = 4
"""The fewest thread counts to which a law with three parameters is fitted."""

DRAWS = 1000
SEED = 1


Range = tuple[float, float]
Row = dict[str, float | str | None]


def saturation_points(tables: Tables) -> pd.DataFrame:
    """One row per sweep of threads: its peak and saturation point, and both as a sentence.

    Each combination of other parameters that distinguish points has a curve and a row of its own,
    which names them.  ``doubted`` are the kinds of doubts about the point with the best throughput,
    on which the saturation point rests.

    ``peak_lies`` is ``inside`` only when throughput falls after its best by more than chance
    explains, ``beyond`` when it still rises at the end, ``below`` when the fewest threads are the
    best, ``plateau`` when it does neither, and ``cannot tell`` with fewer than four thread counts
    or when the runs differ too much.  Figures that are not known are empty.
    """
    runs, doubts = tables["runs"], tables.get("doubts", empty("doubts"))
    figures = run_figures(tables)[["run", "throughput_msg_s"]]
    names = dict.fromkeys((*FACTORS, *varied(runs)))
    frame = runs[["run", "point", *SWEEP, "threads", *names]].merge(figures, on="run")
    frame = frame[frame["throughput_msg_s"].gt(0) & frame["threads"].notna()]
    rows = [
        {name: curve[name].iloc[0] for name in SWEEP}
        | with_doubts(_saturation_point(curve, values), curve, doubts)
        for values, curve in curves(frame)
    ]
    return conform("saturation_points", pd.DataFrame(rows))


def _saturation_point(curve: pd.DataFrame, values: Mapping[str, Value]) -> dict[str, Any]:
    """The row of one curve, with the values that distinguish it from others of its sweep."""
    row = saturation_point(curve)
    present = {name: value for name, value in values.items() if pd.notna(value)}
    if not present:
        return {**row}
    return {**row, **present, "text": f"With {at(values, values)}: {row['text']}"}


def apart(row: Mapping[Any, Any]) -> list[str]:
    """The parameters that distinguish the curve of a row from others of its sweep, in words."""
    return [worded(name, row[name]) for name in parameters() if pd.notna(row.get(name))]


def saturation_point(sweep: pd.DataFrame) -> Row:
    """The row of one sweep, from ``threads`` and ``throughput_msg_s`` of each run."""
    threads = sweep["threads"].to_numpy(dtype=float)
    throughput = sweep["throughput_msg_s"].to_numpy(dtype=float)
    counts = np.unique(threads)
    row: Row = {"points": len(counts), "peak_lies": CANNOT_TELL}
    if len(counts) < FEWEST:
        words = "1 thread count was" if len(counts) == 1 else f"{len(counts)} thread counts were"
        return row | {"text": f"Cannot tell where the peak lies: {words} measured, not {FEWEST}."}
    noise = noise_of(threads, throughput)
    law = fitted(threads, throughput, noise)
    peak, sentence = _peak(threads, throughput, noise or Noise(law.error, law.freedom), law)
    saturated, phrase = _saturation(threads, throughput, law)
    return row | {"fit_error": law.error} | peak | saturated | {"text": f"{sentence}; {phrase}."}


def _may_be_best(threads: Array, throughput: Array, noise: Noise) -> Array:
    """The thread counts than which no other is significantly better: a 95 % set of the best."""
    counts, sizes = np.unique(threads, return_counts=True)
    means = np.array([np.log(throughput[threads == count]).mean() for count in counts])
    top = int(means.argmax())
    margin = special.stdtrit(noise.freedom, 1 - (1 - CONFIDENCE) / (len(counts) - 1))
    errors = noise.deviation * np.sqrt(1 / sizes + 1 / sizes[top])
    best: Array = counts[means >= means[top] - margin * errors]
    return best


def _peak(threads: Array, throughput: Array, noise: Noise, curve_fit: Fit) -> tuple[Row, str]:
    """Where the peak lies: between the neighbours of the thread counts that may be the best."""
    unknown = "Cannot tell where the peak lies"
    if noise.freedom < FEWEST_FREEDOM:
        return {}, f"{unknown}: {len(threads)} runs do not tell a fall from chance"
    counts, best = np.unique(threads), _may_be_best(threads, throughput, noise)
    first, last, least, most = best[0], best[-1], counts[0], counts[-1]
    if (first, last) == (least, most):
        return {}, f"{unknown}: the runs of one thread count differ as much as those of several"
    if last == most:
        return _without_fall(first, counts)
    above = float(counts[counts > last][0])
    if first == least:
        text = f"Throughput falls from {_number(last)} threads on: a peak may lie below the sweep"
        return {"peak_lies": "below", "peak_threads_high": above}, text
    below = float(counts[counts < first][-1])
    row: Row = {"peak_lies": "inside", "peak_threads_low": below, "peak_threads_high": above}
    text = f"The peak lies between {_number(below)} and {_number(above)} threads"
    if not curve_fit.describes or not below <= curve_fit.law.peak <= above:
        return row, text
    peak = curve_fit.law.peak
    return row | {"peak_threads": peak}, f"{text}, by the fitted law at {_number(peak)}"


def _without_fall(first: float, counts: Array) -> tuple[Row, str]:
    """The row where the most threads may be the best; ``first`` are the fewest that may be."""
    if first < counts[-1]:
        text = f"Throughput levels off at {_number(first)} threads, and no fall after that is clear"
        return {"peak_lies": "plateau"}, text
    text = f"Throughput still rises at {_number(first)} threads: a peak lies beyond the sweep"
    return {"peak_lies": "beyond", "peak_threads_low": float(counts[-2])}, text


def _saturation(threads: Array, throughput: Array, curve_fit: Fit) -> tuple[Row, str]:
    """Where the bounds cross, with an interval where the error of the runs can be estimated."""
    law, error = curve_fit.law, curve_fit.error
    if not curve_fit.describes:
        by_how_much = "as the repeats show" if curve_fit.refuted else f"by {100 * error:.0f} %"
        return {}, f"the Universal Scalability Law misses the runs, {by_how_much}"
    crossing = float(law.single_s * _best_mean(threads, throughput))
    row: Row = {
        "contention": law.shared / law.single_s,
        "coherency": law.mutual / law.single_s,
        "saturation_threads": crossing,
    }
    below = ", below the sweep" if crossing < threads.min() else ""
    text = f"the saturation point is at {_number(crossing)} threads{below}"
    if curve_fit.freedom < FEWEST_FREEDOM:
        return row, text
    low, high = _crossing_interval(curve_fit, threads)
    row |= {"saturation_threads_low": low, "saturation_threads_high": high}
    return row, f"{text} (95 % interval: {_number(low)} to {_number(high)})"


def _best_mean(threads: Array, throughput: Array) -> Array:
    """The highest mean of a thread count, for each row of throughput, which has a value per run."""
    counts, indices = np.unique(threads, return_inverse=True)
    means = throughput @ np.eye(len(counts))[indices] / np.bincount(indices)
    best: Array = means.max(axis=-1)
    return best


def _crossing_interval(curve_fit: Fit, threads: Array) -> Range:
    """The interval of the saturation point: a parametric bootstrap around the law.

    B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 6.  As few runs
    estimate their error badly, each draw has its own, from the chi-squared distribution.
    """
    random = np.random.default_rng(SEED)
    drawn = np.array([*_redrawn(curve_fit.law(threads), curve_fit, random)])
    single_s = np.array([fit(threads, rates).single_s for rates in drawn])
    crossings = (single_s * _best_mean(threads, drawn))[single_s > 0]
    low, high = np.quantile(crossings, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)


def _redrawn(expected: Array, curve_fit: Fit, random: np.random.Generator) -> Iterator[Array]:
    for _ in range(DRAWS):
        sigma = curve_fit.error * np.sqrt(curve_fit.freedom / random.chisquare(curve_fit.freedom))
        yield expected * np.exp(sigma * random.standard_normal(len(expected)))


def _number(threads: float) -> str:
    return f"{threads:,.0f}" if threads >= 10 else f"{threads:.2g}"

"""Rules over a sweep: repeats agree, peaks lie inside, and throughput does not drift."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import special

from mqperf.base.one_line import amount, percent
from mqperf.plan.test_cases import unit_of
from mqperf.study.stats.rules.finding import Finding, measured
from mqperf.study.tables import Tables, curves

SPREAD = 0.1
"""Distance of a repeat from the median of all, from which on there is a doubt.  Standard deviation
over mean would let one repeat of three be 17 % off.  Undisturbed repeats on two cores stay within
0.09."""

PLATEAU = 0.02
"""Share within which a neighbour of the best throughput makes it a plateau."""

MOVED = 0.05
"""Relative change over the whole sweep from which on there is a doubt."""

CHANCE = 0.01
"""Significance level of a drift: how often runs without one raise a doubt."""

FEW = 3
"""Degrees of freedom below which a plain rule replaces the significance test."""

CONTROL_RUN_MOVED = 0.1
"""Monotonic relative change from which on there is a doubt where a test is not possible."""

CONTROL_CHANCE = 0.02
"""Significance level at which control runs differ by more than repeats."""


def spread(tables: Tables) -> Iterator[Finding]:
    """Repeats of a point that disagree."""
    for _, repeats in _points(tables).groupby("point", sort=False):
        rate = repeats["throughput_msg_s"]
        middle = float(rate.median())
        distance = (rate - middle).abs()
        # of two repeats, each has half of their distance from the median: the whole distance counts
        most = float(distance.max()) * (2 if len(rate) == 2 else 1)
        if most > SPREAD * middle:
            yield Finding(
                _last_by(repeats.assign(distance=distance), "distance"),
                _difference_text(most, middle, repeats),
                {"throughputs_msg_s": [round(float(value), 1) for value in rate]},
            )


def _difference_text(most: float, middle: float, repeats: pd.DataFrame) -> str:
    """How far the repeats are apart, in words about the one that is farthest from the median."""
    median = f"the median of the {len(repeats)} repeats"
    if not middle:
        unit = f"{unit_of(*repeats['test_case'].unique())}/sec"
        return f"this run's throughput is {most:.0f} {unit}, {median} 0"
    share = f"{100 * most / middle:.0f} %"
    if len(repeats) == 2:
        return f"the two repeats differ by {share} of their mean"
    return f"this run's throughput is {share} away from {median}"


def peak_at_edge(tables: Tables) -> Iterator[Finding]:
    """The best throughput at the first or last number of threads: a bound, not a peak."""
    for _, sweep in curves(_points(tables)):
        curve = sweep.groupby("threads")["throughput_msg_s"].mean()
        if len(curve) < 3 or curve.idxmax() not in (curve.index[0], curve.index[-1]):
            continue
        top, inside = curve.max(), curve.iloc[1:-1].max()
        if inside >= top * (1 - PLATEAU):
            continue
        edge, beyond = (
            ("smallest", "below") if curve.idxmax() == curve.index[0] else ("largest", "above")
        )
        best = sweep[sweep["threads"] == curve.idxmax()]
        yield Finding(
            _last_by(best, "throughput_msg_s"),
            f"throughput is best at the {edge} number of threads measured, {curve.idxmax()}:"
            f" the true peak may lie {beyond} it",
            {str(threads): round(float(rate), 1) for threads, rate in curve.items()},
        )


def drift(tables: Tables) -> Iterator[Finding]:
    """Throughput of the same points that changes with their position in the order of the sweep.

    Each run is compared with the mean of its own point, so that differences between points do not
    count (a regression with fixed effects).  Control runs, which are the same point at start,
    middle and end, need not change in one direction: they are suspect when they differ by more than
    repeats of the same test case (an F test of the variances of the logarithms).  Without repeats
    only a large monotonic change counts.
    """
    frame = _throughputs(tables).dropna(subset=["position"])
    frame = frame[frame.groupby("point")["run"].transform("size") >= 2]
    for _, runs in frame.groupby("system", sort=False):
        moved = _trend(runs)
        if moved is not None:
            yield Finding(
                _last_by(runs, "position"),
                f"throughput of the same points moved by {percent(1 + moved)} from the first run of"
                f" the sweep to the last ({amount(len(runs), 'run')} of"
                f" {amount(runs['point'].nunique(), 'point')})",
                {"moved": round(moved, 4), "runs": len(runs)},
            )
        else:
            yield from _control_runs_differ(runs)


def _control_runs_differ(runs: pd.DataFrame) -> Iterator[Finding]:
    """Control runs that differ by more than repeats do."""
    control = runs[_are_control_runs(runs)].sort_values("position")
    rates = control["throughput_msg_s"]
    others = runs[runs["test_case"].isin(control["test_case"]) & ~runs["run"].isin(control["run"])]
    freedom = len(others) - others["point"].nunique()
    if len(rates) < 2 or freedom < 1 or (others["throughput_msg_s"] <= 0).any() or rates.min() <= 0:
        return
    logs = pd.Series(np.log(others["throughput_msg_s"].astype(float)), others.index)
    residuals = logs - logs.groupby(others["point"]).transform("mean")
    noise = float((residuals**2).sum()) / freedom
    variance = float(np.log(rates.astype(float)).var(ddof=1))
    moved = float(rates.max() / rates.min()) - 1
    p_value = float(special.fdtrc(len(rates) - 1, freedom, variance / noise)) if noise else 0.0
    if p_value < CONTROL_CHANCE and moved >= MOVED:
        values = ", ".join(f"{rate:.0f}" for rate in rates)
        values += f" {unit_of(*control['test_case'].unique())}/sec"
        yield Finding(
            _last_by(control, "position"),
            f"the control runs gave {values}, a spread of {_spread(variance)}, while repeats of the"
            f" same test case spread by {_spread(noise)} (standard deviation / mean)",
            {"apart": round(moved, 4), "p_value": round(p_value, 5), "runs": len(rates)},
        )


def _throughputs(tables: Tables) -> pd.DataFrame:
    return measured(tables).dropna(subset=["throughput_msg_s", "threads"])


def _points(tables: Tables) -> pd.DataFrame:
    """The runs of points, without control runs, which only watch the machine."""
    frame = _throughputs(tables)
    return frame[~_are_control_runs(frame)]


def _are_control_runs(runs: pd.DataFrame) -> pd.Series:
    """Whether each run is a control run."""
    return runs["control_run"].fillna(0).gt(0)


def _last_by(runs: pd.DataFrame, column: str) -> str:
    """The run with the largest value of a column, the last one in a tie."""
    return str(runs.sort_values(column)["run"].iloc[-1])


def _trend(runs: pd.DataFrame) -> float | None:
    """Relative change from the first run to the last, None if it is not more than chance."""
    for rows in (runs, runs[_are_control_runs(runs)]):
        freedom = len(rows) - rows["point"].nunique() - 1
        if freedom >= 1 and (moved := _change(rows, freedom)) is not None:
            return moved
    return None


def _change(runs: pd.DataFrame, freedom: int) -> float | None:
    by_point = runs.groupby("point")
    position = runs["position"].astype(float)
    mean = by_point["throughput_msg_s"].transform("mean")
    value = runs["throughput_msg_s"] / mean.where(mean > 0) - 1
    x = position - position.groupby(runs["point"]).transform("mean")
    if value.isna().any() or not (x**2).sum():
        return None
    slope = float((x * value).sum() / (x**2).sum())
    moved = slope * float(position.max() - position.min())
    if freedom < FEW:
        ordered = value[position.sort_values().index]
        one_way = ordered.is_monotonic_increasing or ordered.is_monotonic_decreasing
        return moved if one_way and abs(moved) >= CONTROL_RUN_MOVED else None
    error = (float(((value - slope * x) ** 2).sum()) / freedom / float((x**2).sum())) ** 0.5
    p_value = 2 * special.stdtr(freedom, -abs(slope) / error) if error else 0.0
    return moved if p_value < CHANCE and abs(moved) >= MOVED else None


def _spread(variance: float) -> str:
    """The standard deviation of a relative variance, in percent."""
    return f"{100 * variance**0.5:.1f} %"

"""Rules over several runs: repeats agree, peaks lie inside, the machine stays the same."""

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
"""A neighbour this near the top shows that the top is a plateau and not a slope."""

MOVED = 0.05
"""A change over the whole sequence from which on there is a doubt."""

CHANCE = 0.01
"""How often a machine that does not drift may be accused."""

FEW = 3
"""Degrees of freedom below which chance is not estimated but excluded by a plain rule."""

CONTROL_RUN_MOVED = 0.1
"""What control runs must have moved, and all one way, when no repeats tell how much is chance."""

CONTROL_CHANCE = 0.02
"""How often control runs of a machine that stays the same may differ by so much."""


def spread(tables: Tables) -> Iterator[Finding]:
    """Repeats of a point that disagree."""
    for _, repeats in _points(tables).groupby("point", sort=False):
        rate = repeats["throughput_msg_s"]
        middle = float(rate.median())
        away = (rate - middle).abs()
        # of two, neither is the other's median: what counts is how far they are apart
        most = float(away.max()) * (2 if len(rate) == 2 else 1)
        if most > SPREAD * middle:
            yield Finding(
                _last_by(repeats.assign(away=away), "away"),
                _apart(most, middle, repeats),
                {"throughputs_msg_s": [round(float(value), 1) for value in rate]},
            )


def _apart(most: float, middle: float, repeats: pd.DataFrame) -> str:
    """How far repeats are apart, for whoever reads of the one that is farthest from the others."""
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
    """Throughput of the same points that moves with their place in the order of the sweep.

    Each run is compared with its own point's mean, so that the points themselves do not matter
    (a regression with fixed effects).  Control runs, which are the same point at start, middle and
    end, need not move one way: they are suspect when they differ by more than the repeats of the
    same test case do (an F test of the variances of the logarithms).  Without repeats they are
    asked only for a clear movement.
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
            yield from _unlike_repeats(runs)


def _unlike_repeats(runs: pd.DataFrame) -> Iterator[Finding]:
    """Control runs that differ by more than repeats do."""
    control = runs[_watches(runs)].sort_values("position")
    rates = control["throughput_msg_s"]
    alike = runs[runs["test_case"].isin(control["test_case"]) & ~runs["run"].isin(control["run"])]
    freedom = len(alike) - alike["point"].nunique()
    if len(rates) < 2 or freedom < 1 or (alike["throughput_msg_s"] <= 0).any() or rates.min() <= 0:
        return
    logs = pd.Series(np.log(alike["throughput_msg_s"].astype(float)), alike.index)
    around = logs - logs.groupby(alike["point"]).transform("mean")
    noise = float((around**2).sum()) / freedom
    variance = float(np.log(rates.astype(float)).var(ddof=1))
    moved = float(rates.max() / rates.min()) - 1
    chance = float(special.fdtrc(len(rates) - 1, freedom, variance / noise)) if noise else 0.0
    if chance < CONTROL_CHANCE and moved >= MOVED:
        gave = ", ".join(f"{rate:.0f}" for rate in rates)
        gave += f" {unit_of(*control['test_case'].unique())}/sec"
        yield Finding(
            _last_by(control, "position"),
            f"the control runs gave {gave}, a spread of {_percent(variance)}, while repeats of the"
            f" same test case spread by {_percent(noise)} (standard deviation / mean)",
            {"apart": round(moved, 4), "p_value": round(chance, 5), "runs": len(rates)},
        )


def _throughputs(tables: Tables) -> pd.DataFrame:
    return measured(tables).dropna(subset=["throughput_msg_s", "threads"])


def _points(tables: Tables) -> pd.DataFrame:
    """The runs that count for their points: control runs only watch the machine."""
    frame = _throughputs(tables)
    return frame[~_watches(frame)]


def _watches(runs: pd.DataFrame) -> pd.Series:
    """Which of them are control runs."""
    return runs["control_run"].fillna(0).gt(0)


def _last_by(runs: pd.DataFrame, column: str) -> str:
    """The run with the largest value."""
    return str(runs.sort_values(column)["run"].iloc[-1])


def _trend(runs: pd.DataFrame) -> float | None:
    """Relative change over the sequence, if it is more than chance; nothing if it is not."""
    for rows in (runs, runs[_watches(runs)]):
        freedom = len(rows) - rows["point"].nunique() - 1
        if freedom >= 1 and (moved := _moved(rows, freedom)) is not None:
            return moved
    return None


def _moved(runs: pd.DataFrame, freedom: int) -> float | None:
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
    chance = 2 * special.stdtr(freedom, -abs(slope) / error) if error else 0.0
    return moved if chance < CHANCE and abs(moved) >= MOVED else None


def _percent(variance: float) -> str:
    """A relative variance as the standard deviation."""
    return f"{100 * variance**0.5:.1f} %"

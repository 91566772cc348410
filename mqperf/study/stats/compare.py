"""Two sets of runs, point by point: ratios with intervals, and a verdict only where there is one.

Ratios are of geometric means, so that B / A and A / B say the same; their intervals are Welch's
(B. L. Welch, The Generalization of Student's Problem, 1947) of the logarithms over the repeats.
A verdict needs a difference which is larger than the minimum relevant difference and which chance
does not explain, after correction for the number of comparisons (S. Holm, A Simple Sequentially
Rejective Multiple Test Procedure, 1979).  So the chance that a system compared with itself gets
even one verdict other than "cannot tell" is at most 1 - confidence, however many points there are.

The part of a difference of one-way latencies that the errors of the hosts' clocks could explain is
subtracted before the verdict: ``clock_share`` is that part.

This assumes that nothing but the system differs between the runs of A and those of B.  Where the
runs of one side precede those of the other, whatever changed meanwhile (the machine, its other
work, the start of the broker) counts as a difference of the systems, and repeats do not show it:
``in_turns`` says whether the runs were interleaved, by the instants at which they started.

Where no verdict can be given, ``detectable`` says which difference these repeats would have shown
with a power of 80 % (J. Cohen, Statistical Power Analysis for the Behavioral Sciences, 1988), and
``repeats_needed`` how many repeats would show the observed difference, or the minimum relevant one.

With one run on each side there is no verdict: an interval from within the runs is given where they
have one (G. Y. Zou and A. Donner, Construction of Confidence Limits About Effect Measures, 2008),
but it does not know how much the next run would differ.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from mqperf.base.errors import TableError
from mqperf.plan import LATENCIES
from mqperf.plan.columns import COLUMNS, parameters
from mqperf.study.series.intervals import CONFIDENCE
from mqperf.study.stats.summary import run_figures
from mqperf.study.tables import Tables, varied
from mqperf.study.tables.shape import in_order, shaped

POINT_KEYS = ("system", "topology", "queues", "test_case", "threads")
"""Columns by which points of A and B are matched, beside the parameters that vary in either."""

HIGHER_IS_BETTER = {
    "throughput_msg_s": True,
    "latency_mean_s": False,
    "latency_p99_s": False,
    "cpu_per_message_s": False,
}
"""The figures that are compared; CPU per message, as otherwise doing less would look better."""

BETTER_IF_HIGHER = {**HIGHER_IS_BETTER, "latency_p50_s": False}
"""Every figure that a verdict can be about."""

Array = NDArray[Any]

MIN_EFFECT = 0.05
"""The default minimum relevant difference."""

CANNOT_TELL = "cannot tell"
WITHIN_RUN = "within run"
"""``interval_kind`` of an interval that is estimated from one run of each side."""

POWER = 0.8
"""Probability with which a difference of the size ``detectable`` is found."""

LARGEST = 10.0
"""Largest relative difference that is reported as ``detectable``; NaN above it."""

MOST_REPEATS = 100
"""Largest number of repeats that is reported as needed; above it no number is given."""


def compare(
    a: Tables,
    b: Tables,
    *,
    keys: Sequence[str] = POINT_KEYS,
    min_effect: float = MIN_EFFECT,
) -> pd.DataFrame:
    """The table ``comparison``: one row per figure of a point that both have measured.

    Points are matched by ``keys``, without ``system`` to compare two systems, and by the parameters
    that distinguish points of A or of B.  ``min_effect`` is the minimum relevant difference.
    Points with a doubt are compared, and marked in ``doubted``.  Raises ``TableError`` when there
    is no common point, or when several points of one side have the same keys.
    """
    return judged("comparison", paired(a, b, keys), min_effect=min_effect)


def paired(a: Tables, b: Tables, keys: Sequence[str] = POINT_KEYS) -> pd.DataFrame:
    """One row per figure of a point that both have: value, spread and doubts of each, not judged.

    Its columns are the keys, the parameters that distinguish points, and intermediate figures for
    ``judged``.  Raises ``TableError`` as ``compare`` does.
    """
    varying = {*varied(a["runs"]), *varied(b["runs"])}
    keys = [*keys, *(name for name in parameters() if name in varying)]
    sides = [one_side(tables, name, keys) for tables, name in ((a, "A"), (b, "B"))]
    pairs = sides[0].merge(sides[1], on=[*keys, "figure"], suffixes=("_a", "_b"))
    if pairs.empty:
        reason = _why_no_common_point(sides[0], sides[1], keys)
        raise TableError(f"A and B have no point in common: {reason}")
    return pairs


def judged(
    table: str,
    pairs: pd.DataFrame,
    *,
    min_effect: float = MIN_EFFECT,
    risk: float = 1 - CONFIDENCE,
) -> pd.DataFrame:
    """Pairs with ratios, intervals and verdicts, in the columns of the table of that name.

    P-values are corrected for the number of all these pairs.  ``risk`` is the chance that pairs
    of equals get any verdict.  Pairs may have a standard ``error`` of their log ratio and its
    degrees of ``freedom``, where repeats alone do not determine it: then every row has
    ``detectable``, and none ``repeats_needed``.
    """
    error_of_repeats = "error" not in pairs.columns
    frame = pairs.assign(ratio=np.exp(pairs["log_b"] - pairs["log_a"]), interval_kind="none")
    frame["hidden"] = _clock_error(frame)
    frame["clock_share"] = np.expm1(frame["hidden"])
    _set_repeat_intervals(frame)
    _set_within_run_intervals(frame)
    frame["p_adjusted"] = holm(frame["p_value"].to_numpy())
    frame["min_effect"] = min_effect
    frame["verdict"] = _verdicts(frame, min_effect, risk)
    undecided = frame["verdict"].eq(CANNOT_TELL)
    detectable = _detectable(frame, risk)
    frame["detectable"] = detectable.where(undecided) if error_of_repeats else detectable
    frame["repeats_needed"] = _repeats_needed(frame, risk) if error_of_repeats else pd.NA
    starts = zip(frame["starts_a"], frame["starts_b"], strict=True)
    frame["in_turns"] = [alternated(*pair) for pair in starts]
    doubts = zip(frame["doubts_a"], frame["doubts_b"], strict=True)
    frame["doubted"] = [doubted_sides(*pair) for pair in doubts]
    return in_order(shaped(table, frame), *(name for name in parameters() if name in pairs.columns))


def holm(p_values: Array) -> Array:
    """The p-values with Holm's correction for the number of them that are not NaN.

    The smallest is multiplied by that number, the next by one less, and so on, never falling.
    """
    adjusted = np.full(len(p_values), np.nan)
    known = np.flatnonzero(~np.isnan(p_values))
    order = known[np.argsort(p_values[known])]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(p_values[order] * factors))
    return adjusted


def one_side(
    tables: Tables, name: str, keys: Sequence[str], figures: Iterable[str] = HIGHER_IS_BETTER
) -> pd.DataFrame:
    """One row per point and figure: its value, and mean and variance of the logarithm of it.

    ``name`` is what an error message calls these tables.  Raises ``TableError`` when several points
    have the same keys.
    """
    columns = ["run", "point", "started", *keys]
    runs = tables["runs"].drop_duplicates("run").reindex(columns=columns)
    runs = runs.astype({key: COLUMNS[key].dtype for key in keys})
    values = _run_values(tables, figures).merge(runs, on="run")
    rows = (
        values.groupby([*keys, "figure"], sort=False, dropna=False)
        .agg(
            repeats=("value", "size"),
            value=("value", "mean"),
            unsure=("unsure", "max"),
            log=("log", "mean"),
            variance=("log", "var"),
            low=("low", "first"),
            high=("high", "first"),
            starts=("started", tuple),
            point=("point", "first"),
            points=("point", "nunique"),
        )
        .reset_index()
    )
    mixed = rows[rows["points"] > 1]
    if len(mixed):
        first_point = " ".join(str(mixed.iloc[0][key]) for key in keys)
        raise TableError(
            f"{name} has {mixed.iloc[0]['points']} points which agree in {', '.join(keys)}, the"
            f" first at {first_point}; compare runs of one plan, by keys that tell its points apart"
        )
    doubt_kinds = kinds_by_point(tables)
    rows["doubts"] = [doubt_kinds.get(str(point), "") for point in rows["point"]]
    return rows.drop(columns="points")


def _why_no_common_point(a: pd.DataFrame, b: pd.DataFrame, keys: Sequence[str]) -> str:
    """The keys of which the sides share no value, in words; or that no combination is shared."""
    for name, side in (("A", a), ("B", b)):
        if side.empty:
            return f"{name} has no figures at all"
    unshared_keys = []
    for key in keys:
        values = [sorted(side[key].dropna().unique()) for side in (a, b)]
        if not set(values[0]) & set(values[1]):
            listing = [", ".join(map(str, side_values)) for side_values in values]
            unshared_keys.append(f"{key} of A: {listing[0]}, of B: {listing[1]}")
    return "; ".join(unshared_keys) or f"no combination of {', '.join(keys)} was measured in both"


def _run_values(tables: Tables, figures: Iterable[str]) -> pd.DataFrame:
    """Columns ``run``, ``figure``, ``value``, its log, interval within the run, clock error."""
    by_run = run_figures(tables)
    clock_errors = tables["latency"].groupby("run")["latency_uncertainty_s"].max()
    latency_error = by_run["run"].map(clock_errors).fillna(0.0)
    for table in ("messages", "latency"):
        ends = tables[table].filter(regex="^run$|_within_(low|high)$").drop_duplicates("run")
        by_run = by_run.merge(ends, on="run", how="left")
    parts = []
    for figure in figures:
        columns = {"run": "run", figure: "value"}
        columns |= {f"{figure}_within_low": "low", f"{figure}_within_high": "high"}
        part = by_run.reindex(columns=list(columns)).rename(columns=columns)
        clock_error = latency_error if figure in LATENCIES else 0.0
        parts.append(part.assign(figure=figure, unsure=clock_error))
    values = pd.concat(parts, ignore_index=True)
    values = values[values["value"].between(0, np.inf, inclusive="neither")].astype(
        {"low": float, "high": float}
    )
    return values.assign(log=np.log(values["value"].astype(float)))


def kinds_by_point(tables: Tables) -> dict[str, str]:
    """Point -> the kinds of the doubts about it, separated by commas."""
    doubts = tables.get("doubts")
    if doubts is None or doubts.empty:
        return {}
    return {str(point): ", ".join(rows["kind"].unique()) for point, rows in doubts.groupby("point")}


def _clock_error(frame: pd.DataFrame) -> pd.Series:
    """By how much clock errors may change a log ratio; infinite where they exceed a value.

    The same for B / A and for A / B.
    """
    sure = [1 - (frame[f"unsure_{side}"] / frame[f"value_{side}"]).clip(upper=1.0) for side in "ab"]
    with np.errstate(divide="ignore"):
        return pd.Series(-np.log(sure[0]) - np.log(sure[1]) + 0.0, frame.index)


def _set_repeat_intervals(frame: pd.DataFrame) -> None:
    """Set interval, p-value and standard error of the rows with repeats on both sides.

    The error is the given one, or Welch's where the repeats differ among themselves.
    """
    repeated = (frame["repeats_a"] > 1) & (frame["repeats_b"] > 1)
    error_given = "error" in frame
    rows = frame[repeated & ((frame["variance_a"] + frame["variance_b"] > 0) | error_given)]
    error, freedom = (rows["error"], rows["freedom"]) if error_given else _welch(rows)
    log_ratio = np.log(rows["ratio"])
    half = special.stdtrit(freedom, (1 + CONFIDENCE) / 2) * error
    frame.loc[rows.index, "ratio_low"] = np.exp(log_ratio - half)
    frame.loc[rows.index, "ratio_high"] = np.exp(log_ratio + half)
    frame.loc[rows.index, "interval_kind"] = "repeats"
    unexplained = (log_ratio.abs() - rows["hidden"]).clip(lower=0.0)
    frame["p_value"] = pd.Series(2 * special.stdtr(freedom, -unexplained / error), rows.index)
    frame["error"], frame["freedom"] = error, freedom


def _welch(rows: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Welch's standard error of each log ratio, and its degrees of freedom."""
    variances = [rows[f"variance_{side}"] / rows[f"repeats_{side}"] for side in "ab"]
    error = np.sqrt(variances[0] + variances[1])
    freedom = error**4 / sum(
        variance**2 / (rows[f"repeats_{side}"] - 1)
        for variance, side in zip(variances, "ab", strict=True)
    )
    return error, freedom


def _set_within_run_intervals(frame: pd.DataFrame) -> None:
    """Set the interval of rows with one run on each side, from the intervals within the runs."""
    single = (frame["repeats_a"] == 1) & (frame["repeats_b"] == 1)
    positive = (frame["low_a"] > 0) & (frame["low_b"] > 0)
    rows = frame[single & positive]
    a, b = rows["log_a"], rows["log_b"]
    down = np.hypot(b - np.log(rows["low_b"]), np.log(rows["high_a"]) - a)
    up = np.hypot(np.log(rows["high_b"]) - b, a - np.log(rows["low_a"]))
    frame.loc[rows.index, "ratio_low"] = np.exp(b - a - down)
    frame.loc[rows.index, "ratio_high"] = np.exp(b - a + up)
    frame.loc[rows.index, "interval_kind"] = WITHIN_RUN


def _detectable(frame: pd.DataFrame, risk: float) -> pd.Series:
    """The relative difference that would be found if its p-value were the smallest of all.

    By the noncentral t distribution, as the error is an estimate; NaN above ``LARGEST``.
    """
    level = _strictest_level(frame, risk)
    freedoms = frame["freedom"].round(1)
    errors = {freedom: _noncentrality(freedom, level) for freedom in freedoms.dropna().unique()}
    exponent = freedoms.map(errors) * frame["error"] + frame["hidden"]
    shown = exponent.where(exponent <= np.log1p(LARGEST))
    return pd.Series(np.expm1(shown)).clip(lower=frame["min_effect"])


def _repeats_needed(frame: pd.DataFrame, risk: float) -> pd.Series:
    """The repeats of each side that would show the observed, or minimum relevant, difference.

    Further runs are assumed to vary as much as these did.
    """
    level = _strictest_level(frame, risk)
    observed = np.log(frame["ratio"]).abs() - frame["hidden"]
    targets = observed.clip(lower=np.log1p(frame["min_effect"]))
    undecided = (frame["verdict"] == CANNOT_TELL) & (frame["hidden"] <= np.log1p(LARGEST))
    rows = frame[undecided & frame["error"].notna()]
    repeats = [
        _repeats(variance_a, variance_b, targets[index], level)
        for index, variance_a, variance_b in rows[["variance_a", "variance_b"]].itertuples()
    ]
    return pd.Series(repeats, rows.index, dtype="Int64").reindex(frame.index)


def _repeats(variance_a: float, variance_b: float, log_ratio: float, risk: float) -> int | None:
    """The fewest repeats of each side which show this difference with ``POWER``, if any do."""
    both = variance_a + variance_b
    share = both**2 / (variance_a**2 + variance_b**2)

    def enough(repeats: int) -> bool:
        freedom = float(f"{share * (repeats - 1):.2g}")  # rounded, so that the cache is hit
        return _noncentrality(freedom, risk) * sqrt(both / repeats) <= log_ratio

    fewest = 2 + bisect_left(range(2, MOST_REPEATS + 1), True, key=enough)  # noqa: FBT003
    return fewest if fewest <= MOST_REPEATS else None


def _strictest_level(frame: pd.DataFrame, risk: float) -> float:
    """The level below which the smallest of all these p-values must be, by Holm's rule."""
    return risk / max(1, int(frame["p_value"].notna().sum()))


@cache
def _noncentrality(freedom: float, risk: float) -> float:
    """The true difference, in standard errors, at which t exceeds its limit with ``POWER``."""
    from scipy.optimize import brentq  # slow to import, as is scipy.stats
    from scipy.stats import nct  # special.nctdtr is NaN far out

    limit = special.stdtrit(freedom, 1 - risk / 2)

    def excess_power(difference: float) -> float:
        return float(nct.sf(limit, freedom, difference) - POWER)

    return float(brentq(excess_power, 0.0, 2 + 2 * limit, rtol=1e-3))  # 1.3 limits, with one degree


def alternated(a: Sequence[pd.Timestamp], b: Sequence[pd.Timestamp]) -> str:
    """``in turns`` when the side changes at least once for each run of the side with fewer runs.

    That is so for A B A B and for A B B A, also when a run is missing or was repeated later; it is
    not for A A B B A A.
    """
    if any(map(pd.isna, (*a, *b))):
        return "not known"
    if max(a) < min(b):
        return "A first"
    if max(b) < min(a):
        return "B first"
    sides = [side for _, side in sorted([*((at, "A") for at in a), *((at, "B") for at in b)])]
    changes = sum(before != after for before, after in pairwise(sides))
    return "in turns" if changes >= min(len(a), len(b)) else "in part"


def _verdicts(frame: pd.DataFrame, min_effect: float, risk: float) -> Array:
    relevant = np.log(frame["ratio"]).abs() - frame["hidden"] >= np.log1p(min_effect)
    certain = relevant & (frame["p_adjusted"] < risk)
    better = (frame["ratio"] > 1) == frame["figure"].map(BETTER_IF_HIGHER)
    return np.select([certain & better, certain & ~better], ["better", "worse"], CANNOT_TELL)


def doubted_sides(in_a: str, in_b: str) -> str | None:
    """The kinds of doubts about A and about B, as the column ``doubted`` has them."""
    sides = [f"{side}: {kinds}" for side, kinds in (("A", in_a), ("B", in_b)) if kinds]
    return "; ".join(sides) or None

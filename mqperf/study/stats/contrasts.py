"""Ratios of points along a named axis, each value to the first: a layout, version or option."""

from collections.abc import Iterator, Sequence

import pandas as pd

from mqperf.plan.columns import COLUMNS, parameters
from mqperf.plan.decide import OF_LAYOUT
from mqperf.plan.pace import RATE
from mqperf.plan.topologies import QUEUES
from mqperf.study.stats.between_rates import between, spoiled
from mqperf.study.stats.compare import POINT_KEYS, judged, one_side
from mqperf.study.stats.doubt_kinds import SPOILING_RATIOS
from mqperf.study.stats.offered_rates import with_middle_rates
from mqperf.study.stats.rules.tester import DISTURBED
from mqperf.study.stats.sustained import YES, best_first, doubted_points
from mqperf.study.tables import Tables, of_points, varied
from mqperf.study.tables.axes import FACTORS, SWEEP
from mqperf.study.tables.places import CONDITION

LOAD = (*FACTORS, "threads", RATE)
"""Columns in which the best points of two compared values may differ."""


def named_axes(points: pd.DataFrame) -> list[str]:
    """The columns of text that distinguish points: of layout, and parameters but the condition."""
    named = [name for name in varied(points) if COLUMNS[name].dtype == "string"]
    of_layout = [name for name in OF_LAYOUT if len(points[name].dropna().unique()) > 1]
    return [*of_layout, *(name for name in named if name != CONDITION)]


def contrasts(tables: Tables, axis: str) -> pd.DataFrame:
    """One row per figure, value of the axis but the first, and combination of the other keys.

    Each side is its best point by ``best_first``, one for each combination of the parameters that
    are not in ``LOAD``.  Columns are those of the table ``comparison``, with B's value in the
    column of the axis; and ``reference``, the value of A, the ``point_a`` and ``point_b`` that were
    compared, and whether both are ``sound``.
    """
    best = _best_points(tables)
    values = _values_in_order(axis, best, tables)
    keys = [name for name in (*POINT_KEYS, *_variants(best)) if name not in {axis, "threads"}]
    return _judged(
        [_pair(tables, best, axis, (values[0], value), keys) for value in values[1:]], axis, keys
    )


def contrasts_at_rate(tables: Tables, axis: str) -> pd.DataFrame:
    """The same of two points at one rate: the highest that both were offered and keep up with.

    Empty where the rate changes within runs.
    """
    runs = tables["runs"]
    if RATE not in runs.columns or len(tables["rate_steps"]):
        return pd.DataFrame()
    rated = best_first(tables["points"], tables)
    rated[RATE] = rated["point"].map(runs.groupby("point")[RATE].first())
    kept = rated[rated[RATE].notna() & rated["keeps_up"].eq(YES)]
    values = _values_in_order(axis, kept, tables)
    keys = [name for name in (*POINT_KEYS, *_variants(rated), RATE) if name != axis]
    pairs = []
    for value in values[1:]:
        both_values = kept[kept[axis].isin({values[0], value})]
        common = both_values[both_values.groupby(keys, dropna=False)[axis].transform("nunique") > 1]
        top = common.groupby(keys[:-1], dropna=False)[RATE].transform("max")
        pairs.append(_pair(tables, common[common[RATE] == top], axis, (values[0], value), keys))
    return _judged(pairs, axis, keys)


def _judged(pairs: Sequence[pd.DataFrame], axis: str, keys: Sequence[str]) -> pd.DataFrame:
    """All pairs judged together, with the points that were compared."""
    if not any(map(len, pairs)):
        return pd.DataFrame()
    together = pd.concat([pair for pair in pairs if len(pair)], ignore_index=True)
    row_keys = [*keys, axis, "figure"]
    sides = together[[*row_keys, "reference", "point_a", "point_b", "sound"]]
    return judged("comparison", together).merge(sides, on=row_keys)


def contrasts_of_rates(
    tables: Tables, rates: pd.DataFrame, axis: str, ends: tuple[str, str]
) -> pd.DataFrame:
    """The same of rates that are known to lie between two others, in the columns of throughput.

    Each side is its highest sound rate, of any load; ``ends`` are the columns of both ends.  The
    interval holds all possible ratios: from the upper end of the reference to the lower one of the
    other, and the reverse.  Where an end is not known, or load generators were the limit at the
    upper one, it goes to 0 or to infinity; an interval that then excludes nothing has no row.  Both
    are ``sound`` where no doubt about either spoils throughput.
    """
    values = _values_in_order(axis, rates, tables)
    names = (*SWEEP, *(name for name in parameters() if name in rates.columns))
    keys = [name for name in names if name != axis and name not in LOAD]
    in_order = rates.assign(spoiled=rates["doubted"].map(spoiled)).sort_values(
        ["spoiled", *ends], ascending=[True, False, False], kind="stable"
    )
    best = in_order.drop_duplicates([*keys, axis]).sort_index()
    pairs = [
        best[best[axis] == values[0]]
        .merge(best[best[axis] == value], on=keys, suffixes=("_a", "_b"))
        .assign(**{axis: value}, reference=values[0])
        for value in values[1:]
    ]
    if not any(map(len, pairs)):  # nothing is shared, as kinds of queue of two systems
        return pd.DataFrame()
    return between(pd.concat(pairs, ignore_index=True), ends)


def contrasts_of_repeats(tables: Tables, axis: str) -> pd.DataFrame:
    """The same of repeated staircases: each repeat counts with the middle of its two ends.

    As in searches, repeats on a disturbed host do not count.  There is no row where a side has
    fewer than two repeats that count, and whose ends are known.
    """
    doubts, messages = tables["doubts"], tables["messages"]
    disturbed = doubts[doubts["kind"].isin(DISTURBED)]
    counted = messages[~messages["run"].isin(disturbed["run"])]
    undisturbed = {"messages": counted, "doubts": doubts.drop(disturbed.index)}
    rows = contrasts(with_middle_rates({**tables, **undisturbed}), axis)
    return rows[rows[["repeats_a", "repeats_b"]].gt(1).all(axis=1)] if len(rows) else rows


def _pair(
    tables: Tables,
    best: pd.DataFrame,
    axis: str,
    values: tuple[str, str],
    keys: Sequence[str],
) -> pd.DataFrame:
    """The figures of the best points with the first value (A), beside those with the second (B)."""
    best_points = [best[best[axis] == value] for value in values]
    sides = [
        one_side(of_points(tables, points["point"]), str(value), keys)
        for points, value in zip(best_points, values, strict=True)
    ]
    pairs = sides[0].merge(sides[1], on=[*keys, "figure"], suffixes=("_a", "_b"))
    spoiled = doubted_points(tables, SPOILING_RATIOS)
    either = pairs["point_a"].isin(spoiled) | pairs["point_b"].isin(spoiled)
    return pairs.assign(sound=~either, reference=values[0], **{axis: values[1]})


def _best_points(tables: Tables) -> pd.DataFrame:
    """The best point of each sweep, for each combination of parameters that are not in ``LOAD``."""
    points = tables["points"]
    keys = [*SWEEP, *_variants(points)]
    heads = [
        best_first(sweep, tables).head(1)
        for _, sweep in points.groupby(keys, sort=False, dropna=False)
    ]
    return pd.concat(heads, ignore_index=True) if heads else points.assign(sound=False)


def _variants(points: pd.DataFrame) -> Iterator[str]:
    """The parameters that distinguish points and are not in ``LOAD``; no conditions."""
    varying = varied(points)
    yield from (name for name in parameters() if name in varying and name not in LOAD)


def _values_in_order(axis: str, points: pd.DataFrame, tables: Tables) -> list[str]:
    """The values of an axis: queues from plain to replicated, others in the order of the plan."""
    values = [str(value) for value in points[axis].dropna().unique()]
    if axis == "queues":
        order = [*QUEUES]
        return sorted(values, key=lambda value: order.index(value) if value in order else -1)
    positions = tables["runs"].groupby(axis)["position"].min()
    return sorted(values, key=lambda value: float(positions.fillna(0).get(value, 0)))

"""Names that points differ in, each against the first: what a layout, version or option changes."""

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
"""What the best point of a layout may have another value of than that of the other one."""


def named_axes(points: pd.DataFrame) -> list[str]:
    """The axes of names that tell points apart: of layouts, and of parameters; no conditions."""
    named = [name for name in varied(points) if COLUMNS[name].dtype == "string"]
    several = [name for name in OF_LAYOUT if len(points[name].dropna().unique()) > 1]
    return [*several, *(name for name in named if name != CONDITION)]


def contrasts(tables: Tables, axis: str) -> pd.DataFrame:
    """One row per figure, value of the axis but the first, and all else that both have alike.

    Each side is its best point, as of ``best_first``, of which there is one at each value of the
    parameters that are no load.  Columns are those of the table ``comparison``, B being the value
    that stands in the column of the axis; and ``reference``, the value that is A, the ``point_a``
    and ``point_b`` that were compared, and whether both are ``sound``.
    """
    best = _best(tables)
    values = _in_order(axis, best, tables)
    alike = [name for name in (*POINT_KEYS, *_others(best)) if name not in {axis, "threads"}]
    return _judged(
        [_pair(tables, best, axis, (values[0], value), alike) for value in values[1:]], axis, alike
    )


def contrasts_at_rate(tables: Tables, axis: str) -> pd.DataFrame:
    """The same of two points at one rate: the highest that both are offered and keep up with.

    Nothing of points whose rate changes meanwhile.
    """
    runs = tables["runs"]
    if RATE not in runs.columns or len(tables["rate_steps"]):
        return pd.DataFrame()
    rated = best_first(tables["points"], tables)
    rated[RATE] = rated["point"].map(runs.groupby("point")[RATE].first())
    kept = rated[rated[RATE].notna() & rated["keeps_up"].eq(YES)]
    values = _in_order(axis, kept, tables)
    alike = [name for name in (*POINT_KEYS, *_others(rated), RATE) if name != axis]
    pairs = []
    for value in values[1:]:
        two = kept[kept[axis].isin({values[0], value})]
        common = two[two.groupby(alike, dropna=False)[axis].transform("nunique") > 1]
        top = common.groupby(alike[:-1], dropna=False)[RATE].transform("max")
        pairs.append(_pair(tables, common[common[RATE] == top], axis, (values[0], value), alike))
    return _judged(pairs, axis, alike)


def _judged(pairs: Sequence[pd.DataFrame], axis: str, alike: Sequence[str]) -> pd.DataFrame:
    """Pairs with their verdicts, together, and what tells which they are."""
    if not any(map(len, pairs)):
        return pd.DataFrame()
    together = pd.concat([pair for pair in pairs if len(pair)], ignore_index=True)
    keys = [*alike, axis, "figure"]
    sides = together[[*keys, "reference", "point_a", "point_b", "sound"]]
    return judged("comparison", together).merge(sides, on=keys)


def contrasts_of_rates(
    tables: Tables, rates: pd.DataFrame, axis: str, ends: tuple[str, str]
) -> pd.DataFrame:
    """The same of rates that are known to be between two, in the columns that tell of throughput.

    Each side is its highest rate that is sound, of any load; ``ends`` are the columns of both ends.
    The interval is all that they leave open: from the upper end of the reference to the lower one
    of the other, and the reverse.  Where an end is not known, or load generators were the limit at
    the upper one, it goes to 0 or to infinity; there is no row where it then tells nothing.  Both
    are ``sound`` where no doubt about either spoils throughput.
    """
    values = _in_order(axis, rates, tables)
    names = (*SWEEP, *(name for name in parameters() if name in rates.columns))
    alike = [name for name in names if name != axis and name not in LOAD]
    in_order = rates.assign(spoiled=rates["doubted"].map(spoiled)).sort_values(
        ["spoiled", *ends], ascending=[True, False, False], kind="stable"
    )
    best = in_order.drop_duplicates([*alike, axis]).sort_index()
    pairs = [
        best[best[axis] == values[0]]
        .merge(best[best[axis] == value], on=alike, suffixes=("_a", "_b"))
        .assign(**{axis: value}, reference=values[0])
        for value in values[1:]
    ]
    if not any(map(len, pairs)):  # nothing else is alike, as kinds of queue of two systems
        return pd.DataFrame()
    return between(pd.concat(pairs, ignore_index=True), ends)


def contrasts_of_repeats(tables: Tables, axis: str) -> pd.DataFrame:
    """The same of staircases that were repeated: of each repeat counts the middle of its ends.

    As in searches, one whose host was disturbed does not.  There is no row where a side
    has a single repeat that counts, and whose ends are known.
    """
    doubts, messages = tables["doubts"], tables["messages"]
    disturbed = doubts[doubts["kind"].isin(DISTURBED)]
    counted = messages[~messages["run"].isin(disturbed["run"])]
    left = {"messages": counted, "doubts": doubts.drop(disturbed.index)}
    rows = contrasts(with_middle_rates({**tables, **left}), axis)
    return rows[rows[["repeats_a", "repeats_b"]].gt(1).all(axis=1)] if len(rows) else rows


def _pair(
    tables: Tables,
    best: pd.DataFrame,
    axis: str,
    values: tuple[str, str],
    alike: Sequence[str],
) -> pd.DataFrame:
    """The figures of the best points with one value, beside those with the other."""
    best_points = [best[best[axis] == value] for value in values]
    sides = [
        one_side(of_points(tables, points["point"]), str(value), alike)
        for points, value in zip(best_points, values, strict=True)
    ]
    pairs = sides[0].merge(sides[1], on=[*alike, "figure"], suffixes=("_a", "_b"))
    spoiled = doubted_points(tables, SPOILING_RATIOS)
    either = pairs["point_a"].isin(spoiled) | pairs["point_b"].isin(spoiled)
    return pairs.assign(sound=~either, reference=values[0], **{axis: values[1]})


def _best(tables: Tables) -> pd.DataFrame:
    """The best point of each sweep, at each value of what is no load."""
    points = tables["points"]
    keys = [*SWEEP, *_others(points)]
    heads = [
        best_first(sweep, tables).head(1)
        for _, sweep in points.groupby(keys, sort=False, dropna=False)
    ]
    return pd.concat(heads, ignore_index=True) if heads else points.assign(sound=False)


def _others(points: pd.DataFrame) -> Iterator[str]:
    """The parameters that tell points apart and are no load, but for names of conditions."""
    varying = varied(points)
    yield from (name for name in parameters() if name in varying and name not in LOAD)


def _in_order(axis: str, points: pd.DataFrame, tables: Tables) -> list[str]:
    """The values of an axis: plain queues before replicated ones, others as the plan has them."""
    values = [str(value) for value in points[axis].dropna().unique()]
    if axis == "queues":
        order = [*QUEUES]
        return sorted(values, key=lambda value: order.index(value) if value in order else -1)
    places = tables["runs"].groupby(axis)["position"].min()
    return sorted(values, key=lambda value: float(places.fillna(0).get(value, 0)))

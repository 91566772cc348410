"""Verdicts of plans with ``decide``: of comparisons within a plan, and of two plans."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mqperf.plan import Decision
from mqperf.plan.columns import parameters
from mqperf.study.stats.compare import CANNOT_TELL, doubted_sides, kinds_by_point, paired
from mqperf.study.stats.doubt_kinds import SPOILING_RATIOS
from mqperf.study.stats.offered_rates import with_middle_rates
from mqperf.study.stats.sequential import Figures, decisions
from mqperf.study.stats.sustained import FIGURE, doubted_points
from mqperf.study.tables import Tables, conform, empty
from mqperf.study.tables.shape import in_order

SEQUENTIAL = "after each repeat"
"""``interval_kind`` of a ratio whose interval stays valid however long repeats go on."""

ALIKE = "alike"
"""The verdict that two points differ by less than the minimum relevant difference."""


def throughputs(tables: Tables) -> Figures:
    """The throughput of every whole run, by point and repeat; of staircases their middle rate."""
    rows = with_middle_rates(tables)["messages"][["point", "repeat", FIGURE]].dropna()
    figures: dict[str, dict[int, float]] = {}
    for point, repeat, value in rows.itertuples(index=False):
        figures.setdefault(str(point), {})[int(repeat)] = float(value)
    return figures


def decided(tables: Tables) -> pd.DataFrame:
    """One row per comparison of the plan; none where it has no ``decide``.

    Columns are those of the table ``comparison`` that apply to throughput, and the ``axis``, its
    ``reference`` value, the ``repeats`` of both sides, and whether they are ``sound``.
    """
    comparisons = [*_comparisons(tables)]
    if not comparisons:
        return pd.DataFrame()
    points = tables["points"].set_index("point", drop=False)
    spoiled = doubted_points(tables, SPOILING_RATIOS)
    kinds = kinds_by_point(tables)
    pairs = [(reference, other) for reference, other, _, _ in comparisons]
    _, _, _, rule = comparisons[0]
    decisions_made = decisions(throughputs(tables), pairs, rule["difference"], rule["repeats"])
    rows = [
        {
            **points.loc[other].to_dict(),
            "axis": axis,
            "reference": points.loc[reference, axis],
            "figure": FIGURE,
            "ratio": decision.ratio,
            "ratio_low": decision.low,
            "ratio_high": decision.high,
            "interval_kind": SEQUENTIAL,
            "verdict": _verdict(decision),
            "min_effect": rule["difference"],
            "repeats": decision.repeats,
            "repeats_needed": decision.needed,
            "doubted": doubted_sides(kinds.get(reference, ""), kinds.get(other, "")),
            "sound": not {reference, other} & spoiled,
        }
        for (reference, other, axis, _), decision in zip(comparisons, decisions_made, strict=True)
        if {reference, other} <= {*points.index} and decision.ratio is not None
    ]
    return pd.DataFrame(rows).astype({"repeats_needed": "Int64"}) if rows else pd.DataFrame()


def _comparisons(tables: Tables) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """The comparisons of the plan: reference point, other point, axis, and deciding rule."""
    rows = tables["planned"].drop_duplicates("point").dropna(subset=["decide"])
    for point, text in rows[["point", "decide"]].itertuples(index=False):
        rule = json.loads(text)
        yield from ((reference, point, axis, rule) for axis, reference in rule["against"].items())


def decided_between(
    comparison: pd.DataFrame, a: Tables, b: Tables, keys: Sequence[str]
) -> pd.DataFrame:
    """The table ``comparison``, with the verdicts of two plans that were decided between.

    Throughput has the intervals that stay valid however long repeats went on; other figures have
    neither interval nor verdict, as the throughput determined when the runs ended.
    """
    rule = _rule_between(a, b)
    if rule is None:
        return comparison
    pairs = paired(a, b, keys)
    pairs = in_order(pairs, *(name for name in parameters() if name in pairs.columns))
    of_throughput = pairs["figure"].eq(FIGURE)
    points = [
        ((0, of_a), (1, of_b))
        for of_a, of_b in pairs.loc[of_throughput, ["point_a", "point_b"]].itertuples(index=False)
    ]
    figures = {
        (side, point): values
        for side, tables in enumerate((a, b))
        for point, values in throughputs(tables).items()
    }
    decisions_made = decisions(figures, points, rule["difference"], rule["repeats"])
    rows = comparison.assign(
        **dict.fromkeys(("ratio_low", "ratio_high", "p_value", "p_adjusted", "detectable"), np.nan),
        interval_kind="none",
        verdict=CANNOT_TELL,
        min_effect=rule["difference"],
        repeats_needed=None,
    )
    for row, decision in zip(rows.index[of_throughput], decisions_made, strict=True):
        rows.loc[row, ["ratio_low", "ratio_high"]] = decision.low, decision.high
        rows.loc[row, ["interval_kind", "verdict"]] = SEQUENTIAL, _verdict(decision)
        rows.loc[row, "repeats_needed"] = decision.needed
    return conform("comparison", rows)


def _rule_between(a: Tables, b: Tables) -> dict[str, Any] | None:
    """The rule by which two plans decide between them, if any; with the larger ``repeats``."""
    plans = [tables.get("planned", empty("planned")) for tables in (a, b)]
    texts = [plan["decide"].dropna() for plan in plans]
    first, second = (json.loads(text.iloc[0]) if len(text) else {} for text in texts)
    if not first.get("plans") or first["plans"] != second.get("plans"):
        return None
    return {**first, "repeats": max(first["repeats"], second["repeats"])}


def _verdict(decision: Decision) -> str:
    return CANNOT_TELL if decision.outcome == "open" else decision.outcome

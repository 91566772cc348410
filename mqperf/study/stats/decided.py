"""What a plan with ``decide`` has found out: of the runs in a folder, or of their tables."""

import json
from collections.abc import Iterator
from typing import Any

import pandas as pd

from mqperf.study.stats.compare import CANNOT_TELL, doubted_sides, kinds_by_point
from mqperf.study.stats.doubt_kinds import SPOILING
from mqperf.study.stats.sequential import Figures, decisions
from mqperf.study.stats.sustained import FIGURE
from mqperf.study.tables import Tables

SEQUENTIAL = "after each repeat"
"""What the interval of a ratio is called that stays right however long repeats go on."""

ALIKE = "alike"
"""The verdict that two points differ by less than what matters."""

IN_INTERVALS = "spread"
"""The kind of doubt that says no more than these intervals do: that repeats differ."""


def throughputs(tables: Tables) -> Figures:
    """The throughput of every whole run, by its point and repeat."""
    rows = tables["messages"][["point", "repeat", FIGURE]].dropna()
    figures: dict[str, dict[int, float]] = {}
    for point, repeat, value in rows.itertuples(index=False):
        figures.setdefault(str(point), {})[int(repeat)] = float(value)
    return figures


def decided(tables: Tables) -> pd.DataFrame:
    """One row per comparison of the plan; none where it decides nothing.

    Columns are those of the table ``comparison`` that tell of throughput, and the ``axis``, its
    value that is the ``reference``, the ``repeats`` of both sides, and whether they are ``sound``.
    """
    planned = [*_planned(tables)]
    if not planned:
        return pd.DataFrame()
    points = tables["points"].set_index("point", drop=False)
    doubts = tables["doubts"]
    spoiled = {*doubts.loc[doubts["kind"].isin(SPOILING - {IN_INTERVALS}), "point"].dropna()}
    kinds = kinds_by_point(tables)
    pairs = [(reference, other) for reference, other, _, _ in planned]
    _, _, _, rule = planned[0]
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
            "verdict": CANNOT_TELL if decision.outcome == "open" else decision.outcome,
            "min_effect": rule["difference"],
            "repeats": decision.repeats,
            "repeats_needed": decision.needed,
            "doubted": doubted_sides(kinds.get(reference, ""), kinds.get(other, "")),
            "sound": not {reference, other} & spoiled,
        }
        for (reference, other, axis, _), decision in zip(planned, decisions_made, strict=True)
        if {reference, other} <= {*points.index} and decision.ratio is not None
    ]
    return pd.DataFrame(rows).astype({"repeats_needed": "Int64"}) if rows else pd.DataFrame()


def _planned(tables: Tables) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """The comparisons of the plan: reference, other, name, and what the plan says of deciding."""
    rows = tables["planned"].drop_duplicates("point").dropna(subset=["decide"])
    for point, text in rows[["point", "decide"]].itertuples(index=False):
        rule = json.loads(text)
        yield from ((reference, point, axis, rule) for axis, reference in rule["against"].items())

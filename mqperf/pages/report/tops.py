"""The point that represents a test case on a layout, and doubts about it and the raw maximum."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from mqperf.pages.report.words import Layout, likewise
from mqperf.plan.test_cases import TEST_CASES
from mqperf.study.stats.sustained import FIGURE, NO, TESTER, best_first, highest
from mqperf.study.tables import Tables

HIGHEST = ("point", FIGURE, "at", "label", "doubts", "findings")
"""Columns, with the prefix ``top_``, of the point with the highest throughput."""


UNTOLD = "unknown whether it keeps up, because the sending rate changes or was not recorded"
"""Remark on a throughput without a doubt that is not known to be sustained."""


def tops(tables: Tables, layouts: Sequence[Layout]) -> pd.DataFrame:
    """Return a row per layout and test case: the sustained point, or the best if there is none.

    Adds ``label`` and ``folder`` of the layout, the columns of ``stats.sustained.best_first``,
    ``doubts``: the kinds of doubt about the point, ``findings``: the finding of each of them, and
    with the prefix ``top_`` the same of the point with the highest throughput, sustained or not.
    """
    points = tables["points"]
    tried = {*points["test_case"]}
    cases = [case for case in TEST_CASES if case in tried] or [*TEST_CASES]
    best = [
        _top(best_first(layout.of(points, case), tables), tables).assign(
            label=layout.label, top_label=layout.label, folder=layout.folder
        )
        for layout in layouts
        for case in cases
    ]
    measured = [rows for rows in best if len(rows)]
    return pd.concat(measured or best, ignore_index=True)


def higher(top: Mapping[Any, Any]) -> bool:
    """Return whether another point had a higher throughput than the representative one."""
    return bool(top[f"top_{FIGURE}"] > top[FIGURE])


def why_not(rows: pd.DataFrame) -> str:
    """Return why none of these tops is sustained; empty if one is sound.

    The rows are those of ``tops``, or of ``best_first``.
    """
    if rows["sound"].any():
        return ""
    verdicts = set(rows["any_keeps_up"])
    if verdicts == {NO}:
        return "no point keeps up"
    if verdicts <= {NO, TESTER}:
        return "no point keeps up without tester or host being the limit"
    return "no point is beyond doubt"


def findings(doubts: pd.DataFrame, point: object) -> dict[str, str]:
    """Return the kinds of doubt about a point -> the finding of each."""
    of_point = doubts[doubts["point"] == point]
    return {
        str(kind): likewise(list(texts.dropna().unique()))
        for kind, texts in of_point.groupby("kind", sort=False)["text"]
    }


def _top(best: pd.DataFrame, tables: Tables) -> pd.DataFrame:
    """Return the first of these points, if any, as a row, with ``top_`` columns of the highest."""
    head, top = best.head(1), highest(best)
    if top is None:
        names = ("doubts", "findings", *(f"top_{name}" for name in HIGHEST))
        return head.assign(**dict.fromkeys(names))
    of_head, of_top = (findings(tables["doubts"], row["point"]) for row in (head.iloc[0], top))
    columns = {
        "doubts": list(of_head),
        "findings": of_head,
        "top_doubts": list(of_top),
        "top_findings": of_top,
    }
    return head.assign(
        **{f"top_{name}": top[name] for name in ("point", FIGURE, "at")},
        **{name: pd.Series([value], head.index, dtype=object) for name, value in columns.items()},
    )

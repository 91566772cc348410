"""Which point stands for a test case on a layout, and what doubts say of it and of the highest."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from mqperf.pages.report.words import Layout, likewise
from mqperf.plan.test_cases import TEST_CASES
from mqperf.study.stats.sustained import FIGURE, NO, TESTER, best_first, highest
from mqperf.study.tables import Tables

HIGHEST = ("point", FIGURE, "at", "label", "doubts", "findings")
"""What is told of the point with the highest throughput, in columns that begin with ``top_``."""


UNTOLD = "whether it keeps up is not known, as the rate of sending changes, or was not recorded"
"""What is said of a throughput that no doubt is about, and that is not known to be sustained."""


def tops(tables: Tables, layouts: Sequence[Layout]) -> pd.DataFrame:
    """One row per layout and test case: the sustained point, or the best where there is none.

    Adds ``label`` and ``folder`` of the layout, the columns of ``stats.sustained.best_first``,
    ``doubts``: the kinds of doubt about the point, ``findings``: what each of them found, and with
    the prefix ``top_`` the same of the point with the highest throughput, sustained or not.
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
    """Whether another point had a higher throughput than the one that stands for all."""
    return bool(top[f"top_{FIGURE}"] > top[FIGURE])


def why_not(rows: pd.DataFrame) -> str:
    """Why none of these tops is sustained, in words; empty where one is, or nobody can tell.

    The rows are those of ``tops``, or of ``best_first``.
    """
    if rows["sound"].any():
        return ""
    kept = set(rows["any_keeps_up"])
    if kept == {NO}:
        return "no point keeps up"
    if kept <= {NO, TESTER}:
        return "no point keeps up without tester or host being the limit"
    return "no point is beyond doubt"


def findings(doubts: pd.DataFrame, point: object) -> dict[str, str]:
    """Kinds of doubt about a point, and what each of them found."""
    of_point = doubts[doubts["point"] == point]
    return {
        str(kind): likewise(list(texts.dropna().unique()))
        for kind, texts in of_point.groupby("kind", sort=False)["text"]
    }


def _top(best: pd.DataFrame, tables: Tables) -> pd.DataFrame:
    """The first of these points as a row, none for none; and the highest of them."""
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

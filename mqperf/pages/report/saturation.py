"""Saturation points of the sweeps, as a table and a sentence."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

import pandas as pd

from mqperf.base.one_line import amount
from mqperf.pages.report.rst import MISSING, Grid, link
from mqperf.pages.report.words import Layout, joined
from mqperf.plan.test_cases import TEST_CASES
from mqperf.study.stats.scaling import FEWEST, apart

WHERE = {
    "inside": "inside the sweep",
    "plateau": "no peak but a plateau",
    "beyond": "above its last thread count",
    "below": "below its first thread count",
}

UNKNOWN = "cannot tell"

Row = Mapping[Any, Any]


def known(saturation_points: pd.DataFrame) -> pd.DataFrame:
    """Return the sweeps whose saturation point is known."""
    return saturation_points[saturation_points["peak_lies"].isin(list(WHERE))]


def enough(saturation_points: pd.DataFrame) -> pd.DataFrame:
    """Return the sweeps with enough thread counts to look for a saturation point."""
    return saturation_points[saturation_points["points"] >= FEWEST]


def sentence(saturation_points: pd.DataFrame) -> str:
    """Return a sentence on the positions of the peaks of these sweeps."""
    if saturation_points.empty or saturation_points["points"].max() < FEWEST:
        return f"The peak of throughput is not known: that takes {FEWEST} thread counts in a sweep."
    counted = saturation_points["peak_lies"].value_counts()
    parts = [f"{where} in {counted[name]}" for name, where in WHERE.items() if name in counted]
    unknown = [f"not known in {counted[UNKNOWN]}"] if UNKNOWN in counted else []
    sweeps = amount(len(saturation_points), "sweep")
    return f"Peak of throughput in {sweeps} of threads: {joined([*parts, *unknown])}."


def grid(saturation_points: pd.DataFrame, layouts: Sequence[Layout]) -> Grid:
    """Return a table of known saturation points and peaks, with their 95 % intervals."""
    point, peak = (f"{name}, threads" for name in ("saturation point", "peak"))
    headings = ("Topology", "test case", point, "its interval", peak, "its interval", "doubted")
    rows = [
        (
            link(layout.label, layout.folder),
            ", ".join([TEST_CASES[case].short, *apart(row)]),
            _number(row["saturation_threads"]),
            _interval(row, "saturation"),
            row["peak_lies"] if isnan(row["peak_threads"]) else _number(row["peak_threads"]),
            _interval(row, "peak"),
            row["doubted"] if pd.notna(row["doubted"]) else "no",
        )
        for layout in layouts
        for case in TEST_CASES
        for row in layout.of(known(saturation_points), case).to_dict("records")
    ]
    return Grid("", headings, tuple(rows), style="numbers named paired")


def _interval(row: Row, name: str) -> str:
    """Format an interval; an end outside the sweep is ``below`` or ``beyond``."""
    low, high = float(row[f"{name}_threads_low"]), float(row[f"{name}_threads_high"])
    if isnan(low) and isnan(high):
        return MISSING
    lower = "below" if isnan(low) else _number(low)
    return f"{lower} to {'beyond' if isnan(high) else _number(high)}"


def _number(threads: float) -> str:
    if isnan(threads):
        return MISSING
    return f"{threads:.0f}" if threads >= 10 else f"{threads:.2g}"

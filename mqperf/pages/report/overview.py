"""The table of sustained throughputs by topology and test case, as in the reports of 2016."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from mqperf.pages.report.rst import MISSING, Grid, Note, Text, link
from mqperf.pages.report.tops import UNTOLD, higher, why_not
from mqperf.pages.report.words import Layout, three_figures
from mqperf.plan.columns import COLUMNS
from mqperf.plan.test_cases import TEST_CASES, in_unit
from mqperf.study.stats.sustained import FIGURE

ROUNDING = "Throughput in overviews is rounded to three significant figures."


def overview(best: pd.DataFrame, layouts: Sequence[Layout]) -> Grid:
    """Return sustained throughputs, then their thread counts: a row per topology, by test case.

    Footnotes have the findings of doubts, and a raw maximum that is higher.
    """
    cases = [case for case in TEST_CASES if (best["test_case"] == case).any()]
    unit = COLUMNS["throughput_msg_s"].shown
    headings = [
        in_unit(f"{TEST_CASES[case].short}, {unit}", TEST_CASES[case].unit) for case in cases
    ]
    only_threads = not best["at"].str.contains(",").any()
    headings += [f"{TEST_CASES[case].short} at{', threads' * only_threads}" for case in cases]
    notes: dict[str, Note] = {}
    rows = []
    for layout in layouts:
        tops = {top["test_case"]: top for top in layout.of(best).to_dict("records")}
        page = link(layout.label, layout.folder)
        figures = [top_cell(tops.get(case), notes) for case in cases]
        at = "threads" if only_threads else "at"
        points = [str(tops[case][at]) if case in tops else MISSING for case in cases]
        rows.append((page, *figures, *points))
    return Grid(
        "", ("Topology", *headings), tuple(rows), tuple(notes.values()), style="numbers named"
    )


def top_cell(top: Mapping[Hashable, Any] | None, notes: dict[str, Note]) -> Text:
    """Return the cell of a top with marks of its footnotes; new ones are added to ``notes``."""
    if top is None:
        return Text(MISSING)
    remarks = list(_remarks(top))
    for text in remarks:
        notes.setdefault(text, Note(f"top-{len(notes) + 1}", text))
    return Text(three_figures(top[FIGURE])) + Text("").join(notes[text].mark for text in remarks)


def _remarks(top: Mapping[Hashable, Any]) -> Iterator[str]:
    """Yield why it is not sustained, the findings of doubts, and a raw maximum that is higher."""
    if not top["sound"]:
        yield f"raw maximum, not sustained: {why_not(pd.DataFrame([top]))}"
    elif not top["sustained"]:
        yield f"at most: {UNTOLD}"
    for kind, finding in top["findings"].items():
        yield f"doubt, {kind}: {finding}"
    if higher(top):
        finding = "; ".join(f"doubt, {kind}: {text}" for kind, text in top["top_findings"].items())
        maximum = f"{three_figures(top[f'top_{FIGURE}'])} {TEST_CASES[top['test_case']].unit}/sec"
        yield "; ".join(filter(None, [f"raw maximum: {maximum}, with {top['top_at']}", finding]))

"""Control runs: one point measured at start, middle and end of a sweep, shown with the methods.

Pages of topologies leave them out, as they are not repeats of their point.
"""

from collections.abc import Iterator, Mapping

import pandas as pd

from mqperf.base.one_line import amount
from mqperf.pages.figures import labels
from mqperf.pages.report.rst import MISSING, Grid, Note, Text
from mqperf.pages.report.words import cell
from mqperf.plan.columns import COLUMNS
from mqperf.plan.test_cases import TEST_CASES, in_unit, unit_of
from mqperf.study.tables import Tables

TURNS = ("start", "middle", "end")
SHOWN = ("throughput_msg_s", "latency_mean_s")


def runs_of(tables: Tables) -> pd.DataFrame:
    """Return one row per attempt at a control run with its figures, in the order of execution."""
    rows = tables["control_runs"].sort_values(["system", "position"], kind="stable")
    return rows.reset_index(drop=True)


def doubts_of(tables: Tables) -> pd.DataFrame:
    """Return the doubts about control runs."""
    doubts = tables["doubts"]
    return doubts[doubts["run"].isin(tables["control_runs"]["run"])]


def sentences(tables: Tables, titles: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence per system: the point of its control runs, and their spread."""
    for system, rows in runs_of(tables).groupby("system", sort=False):
        first, rates = rows.iloc[0], rows["throughput_msg_s"].dropna()
        sentence = (
            f"{titles[str(system)]}: control runs of {TEST_CASES[first['test_case']].title} with"
            f" {amount(first['threads'], 'thread')} on"
            f" {labels.layout(first['topology'], first['queues'])}"
        )
        if len(rates) > 1 and rates.min() > 0:
            spread = rates.max() / rates.min() - 1
            sentence += f"; its highest throughput is {100 * spread:.1f} % above its lowest"
        yield f"{sentence}."


def grid(tables: Tables, titles: Mapping[str, str]) -> Grid | None:
    """Return a table of all control runs with doubts as footnotes; None if there was none."""
    rows, doubts = runs_of(tables), doubts_of(tables)
    if rows.empty:
        return None
    notes: dict[str, Note] = {}
    for text in doubts["text"]:
        notes.setdefault(text, Note(f"control-run-{len(notes) + 1}", text))
    lines = []
    for row in rows.to_dict("records"):
        doubts_of_run = doubts.loc[doubts["run"] == row["run"], "text"].unique()
        position = MISSING if pd.isna(row["position"]) else str(row["position"])
        lines.append(
            (
                titles[str(row["system"])],
                Text(TURNS[int(row["control_run"]) - 1])
                + Text("").join(notes[text].mark for text in doubts_of_run),
                position,
                *(cell(name, row[name]) for name in SHOWN),
            )
        )
    headings = (
        "System",
        "control run",
        "place in the sweep",
        *(in_unit(COLUMNS[n].heading(), unit_of(*rows["test_case"])) for n in SHOWN),
    )
    return Grid("", headings, tuple(lines), tuple(notes.values()), style="numbers named")

"""Drawings of single runs over time: selection of the runs of a report, and their drawing."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from mqperf.pages import figures
from mqperf.pages.figures.run_seconds import finished_rows
from mqperf.pages.report.drawings import Drawing
from mqperf.pages.report.rst import slug
from mqperf.pages.report.words import joined
from mqperf.plan.columns import COLUMNS
from mqperf.plan.test_cases import TEST_CASES
from mqperf.study.stats.instants import doubted_times
from mqperf.study.stats.sustained import best_first
from mqperf.study.tables import Tables, at, completed, latency_map, varied, where
from mqperf.study.tables.axes import SWEEP
from mqperf.study.tables.places import CONDITION

FOLDER = "runs"
"""The folder beside a page with the drawings of its runs."""

MOST = 100
"""Most drawings of runs in a report: one takes about 0.5 s, and 60 to 140 kB."""

NEEDED = ("runs", "intervals", "cpu", "events", "outages", "node_metrics", "doubts")
"""The tables that a drawing, or its alternative text, is made from."""

Explorers = Mapping[str, Drawing]
"""Run -> its drawing."""


def explorers(tables: Tables, source: Path) -> Explorers:
    """Return drawings of at most ``MOST`` runs of the folder ``source`` with these tables.

    In order of preference: runs of the best points, runs with a doubt, the first of each point.
    """
    runs = completed(tables["runs"])
    drawn = runs[runs["run"].isin(tables["intervals"]["run"])]
    order = [
        *shown(tables),
        *drawn.loc[drawn["run"].isin(tables["doubts"]["run"]), "run"],
        *drawn.drop_duplicates("point")["run"],
        *drawn["run"],
    ]
    drawable = {*drawn["run"]}
    chosen = [run for run in dict.fromkeys(order) if run in drawable][:MOST]
    files = {slug(run): run for run in reversed(chosen)}  # no two share a file
    return {run: drawing(tables, source, run) for run in reversed(files.values())}


def shown(tables: Tables) -> list[str]:
    """Return the first whole run of the best point of each layout and test case.

    If points have actions, it is that of each condition with actions, as these are the subject.
    """
    runs, best_runs = completed(tables["runs"]), []
    with_actions = runs.loc[runs["run"].isin(tables["outages"]["run"]), "point"]
    for _, sweep in tables["points"].groupby(list(SWEEP), sort=False):
        disturbed = sweep[sweep["point"].isin(with_actions)]
        key = CONDITION if CONDITION in sweep.columns else "test_case"
        groups = [group for _, group in disturbed.groupby(key, sort=False, dropna=False)]
        for points in groups or [sweep]:
            best = best_first(points, tables)
            of_point = runs[runs["point"].isin(best["point"].head(1))]
            best_runs += list(of_point.sort_values("repeat")["run"].head(1))
    return best_runs


def drawing(tables: Tables, source: Path, run: str) -> Drawing:
    """Return the drawing of a run over time."""
    run_tables = of_run(tables, run)
    unit = TEST_CASES[str(run_tables["runs"]["test_case"].iloc[0])].unit
    point = at(run_tables["runs"].iloc[0].to_dict(), ("threads", *varied(tables["runs"])))
    alt = " ".join(_alternative(run_tables, point))
    return Drawing(run, alt, partial(draw, run_tables, source, run), folder=FOLDER).counting(unit)


def draw(tables: Tables, source: Path, run: str) -> Figure:
    """Draw a run from its rows of the tables; latencies over time are read from ``source``."""
    one_run = figures.OneRun(tables, latency_map(source, run), doubted_times(tables))
    return figures.run_sheet(one_run)


def of_run(tables: Tables, run: str) -> Tables:
    """Return the rows of a run in the tables that are needed."""
    return {name: where(tables[name], run=run) for name in NEEDED}


def _alternative(tables: Tables, point: str) -> Iterator[str]:
    """Yield the alternative text: name and point of the run, figures, actions, and doubts."""
    yield f"Run {tables['runs']['run'].iloc[0]} in time, with {point}."
    finished = finished_rows(tables["intervals"])
    counts = finished[finished["phase"].eq("window")].groupby("start_s")["count"].sum()
    if len(counts):
        column = COLUMNS["throughput_msg_s"]
        yield f"Throughput from {counts.min()} to {counts.max()} {column.shown} in each second."
    largest = tables["intervals"]["latency_max_s"].max()
    if pd.notna(largest):
        column = COLUMNS["latency_s"]
        value = float(f"{largest * column.scale:.3g}")
        yield f"Latency at most {value:.10g} {column.shown or column.unit}."
    for action in tables["outages"].dropna(subset=["began_s", "ended_s"]).to_dict("records"):
        span = f"from {action['began_s']:.1f} to {action['ended_s']:.1f} s"
        yield f"Action {action['action']} of {action['node']} {span}."
    kinds = list(tables["doubts"]["kind"].dropna().unique())
    yield f"Doubts: {joined(kinds)}." if kinds else "No doubts."

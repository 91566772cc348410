"""Grids: rows of a table as finished cells, each doubt marked at the number that it is about."""

from collections.abc import Collection, Iterator, Mapping, Sequence

import pandas as pd

from mqperf.pages.report import limits
from mqperf.pages.report.rows import SWEEP
from mqperf.pages.report.rst import Grid, Note, Text
from mqperf.pages.report.words import cell, likewise, unsure
from mqperf.plan.columns import (
    ACTION_PHASES,
    BACKGROUND,
    COLUMNS,
    COST,
    COUNTS,
    LINK,
    LINK_TOLD,
    OUTAGES,
    TABLES,
)
from mqperf.study.tables import varied

ABOUT: Mapping[str, tuple[str, str]] = {
    "failed-run": ("counts", "threads"),
    "received-not-sent": ("counts", "received"),
    "roundtrip-not-received": ("counts", "round_trip"),
    "lost": ("counts", "lost"),
    "negative-lost": ("counts", "lost"),
    "client-errors": ("counts", "errors"),
    "backlog": ("sweep", "latency_mean_s"),
    "sender-late": ("sweep", "latency_mean_s"),
    "service-time": ("sweep", "latency_mean_s"),
    "missing-run": ("sweep", "threads"),
    "clock-offset": ("sweep", "latency_mean_s"),
    "clock-drift": ("sweep", "latency_mean_s"),
    "background-load": ("background", "load"),
    "link-not-as-asked": ("links", "backend"),
    "presettled-dropped": ("insides", "presettled_dropped"),
    "action-late": ("outages", "began_s"),
    "not-recovered": ("outages", "recovery_s"),
    "cpu-sum": ("nodes", "threads"),
    "sys-exceeds-total": ("nodes", "threads"),
    "cpu-exceeds-cores": ("nodes", "threads"),
    "network-bytes": ("nodes", "threads"),
    "probe-gap": ("nodes", "threads"),
}
"""Which table and column a kind of doubt is about; all others are about the throughput."""

THROUGHPUT = ("sweep", "throughput_msg_s")

AS_IN_2016 = {
    "published_throughput_msg_s": "throughput_msg_s",
    "published_latency_s": "latency_mean_s",
}
"""Figures in the manner of 2016, and the columns that they repeat in a report of that time."""

LATENCIES = tuple(name for name in SWEEP if name.startswith("latency_"))
UNSURE = "latency_uncertainty_s"
"""The columns of a sweep that clocks may make wrong, and the one that says by how much."""

Marks = Mapping[tuple[str, str], list[str]]
"""(A row's run or point, a column) -> the sentences to be printed with that cell."""


def count_grid(caption: str, rows: pd.DataFrame, marks: Marks, labels: Iterator[str]) -> Grid:
    """Messages of every attempt; its repeat and its status where they differ."""
    columns = _present(rows, ("threads", *COUNTS), keep=("threads", "sent", "received", "lost"))
    columns[1:1] = varied(rows)
    columns += [name for name in ("repeat", "status") if len(rows[name].unique()) > 1]
    headings = {name: COLUMNS[name].heading() for name in columns}
    return _grid(caption, rows.set_index("run"), headings, marks, labels)


def sweep_grid(
    caption: str, rows: pd.DataFrame, system: str, marks: Marks, labels: Iterator[str]
) -> Grid:
    """The figures of every point; what was never measured has no column.

    Each parameter that tells points apart has one, too.
    """
    columns = _present(rows, SWEEP, keep=("threads", "throughput_msg_s"))
    columns = [name for name in columns if name != "processes"]
    columns[1:1] = varied(rows)
    told_already = ["repeats", "failed"] if (rows["repeats"] == 1).all() else []
    told_already += [name for name, same in AS_IN_2016.items() if rows[name].equals(rows[same])]
    told_already += [] if limits.known(rows["bottleneck"]) else ["bottleneck"]
    columns = [name for name in columns if name not in told_already]
    headings = {
        name: COLUMNS[name].heading(system if name.startswith("cpu_") else "") for name in columns
    }
    return _grid(caption, rows.set_index("point"), headings, marks, labels)


def outage_grid(caption: str, rows: pd.DataFrame, marks: Marks, labels: Iterator[str]) -> Grid:
    """What every action did; the repeat where there are several."""
    repeat = ["repeat"] if len(rows["repeat"].unique()) > 1 else []
    cost = [name for name in _present(rows, COST, keep=("lost",)) if name not in _summed(rows)]
    columns = ["threads", *varied(rows), *repeat, *OUTAGES, *cost, "duplicates"]
    headings = {name: COLUMNS[name].heading() for name in columns}
    return _grid(caption, rows.set_index("run"), headings, marks, labels)


def phase_grid(caption: str, rows: pd.DataFrame) -> Grid:
    """Messages and latencies before, during and after every action."""
    repeat = ["repeat"] if len(rows["repeat"].unique()) > 1 else []
    told = [name for name in ACTION_PHASES if name not in {"commanded_s", *_summed(rows)}]
    columns = ["threads", *varied(rows), *repeat, *_present(rows, told, keep=told[:5])]
    headings = {name: COLUMNS[name].heading() for name in columns}
    return _grid(caption, rows.set_index("run"), headings, {}, iter(()))


def _summed(rows: pd.DataFrame) -> tuple[str, ...]:
    """Errors, where all rows tell how many of them were released, modified and rejected."""
    return ("errors",) if rows["released"].notna().all() else ()


def link_grid(caption: str, rows: pd.DataFrame, marks: Marks, labels: Iterator[str]) -> Grid:
    """Every link as asked and as measured; what was not asked for, or measured, has no column."""
    repeat = ["repeat"] if len(rows["repeat"].unique()) > 1 else []
    axes = varied(rows)
    asked = {column.name for column in LINK if column.name not in axes}
    columns = [
        name
        for name in LINK_TOLD
        if name not in axes and rows[name].notna().any() and (name not in asked or rows[name].any())
    ]
    headings = {name: COLUMNS[name].heading() for name in ["threads", *axes, *repeat, *columns]}
    return _grid(caption, rows.set_index("run"), headings, marks, labels)


def inside_grid(caption: str, rows: pd.DataFrame, marks: Marks, labels: Iterator[str]) -> Grid:
    """What every node of a run told; what none tells has no column."""
    repeat = ["repeat"] if len(rows["repeat"].unique()) > 1 else []
    told = [one for one in TABLES["insides"].columns if one not in TABLES["runs"].columns]
    columns = ["threads", *varied(rows), *repeat, *_present(rows, told, keep=("node",))]
    headings = {name: COLUMNS[name].heading() for name in columns}
    return _grid(caption, rows.set_index("run"), headings, marks, labels)


def background_grid(caption: str, rows: pd.DataFrame, marks: Marks, labels: Iterator[str]) -> Grid:
    """The figures of every background load; the repeat where there are several."""
    repeat = ["repeat"] if len(rows["repeat"].unique()) > 1 else []
    columns = ["threads", *varied(rows), *repeat, *BACKGROUND]
    headings = {name: COLUMNS[name].heading() for name in columns}
    return _grid(caption, rows.set_index("run"), headings, marks, labels)


def node_grid(caption: str, rows: pd.DataFrame, marks: Marks, labels: Iterator[str]) -> Grid:
    """CPU of every node at every point, from ``rows.wide``."""
    headings = {}
    for name in rows.columns:
        column, _, process = name.partition(" ")
        headings[name] = COLUMNS[column].heading(process)
    return _grid(caption, rows, headings, marks, labels)


def marks(
    doubts: pd.DataFrame, table: str, key: str, shown: Collection[str]
) -> dict[tuple[str, str], list[str]]:
    """The doubts about this table; where the page does not show theirs, they go to the sweep.

    What one check says of several repeats of a point is one sentence.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for (row, kind), some in doubts.groupby([key, "kind"], sort=False)["text"]:
        home, column = ABOUT.get(str(kind), THROUGHPUT)
        home, column = (home, column) if home in shown else THROUGHPUT
        if home == table:
            found.setdefault((str(row), column), []).append(likewise(list(some.unique())))
    return found


def _present(rows: pd.DataFrame, columns: Sequence[str], *, keep: Sequence[str]) -> list[str]:
    return [
        name
        for name in columns
        if name in rows.columns and (name in keep or rows[name].notna().any())
    ]


def _grid(
    caption: str,
    rows: pd.DataFrame,
    headings: Mapping[str, str],
    marks: Marks,
    labels: Iterator[str],
) -> Grid:
    placed = _placed(marks, headings)
    notes: dict[str, Note] = {}
    lines = []
    for position, row in enumerate(rows.index):  # a run may have several rows
        line = []
        for name in headings:
            sentences = placed.get((row, name), [])
            for text in sentences:
                if text not in notes:
                    notes[text] = Note(next(labels), text)
            value = _cell(name, rows, position)
            line.append(value + Text("").join(notes[text].mark for text in sentences))
        lines.append(tuple(line))
    keys = tuple(map(str, rows.index))
    return Grid(caption, tuple(headings.values()), tuple(lines), tuple(notes.values()), keys=keys)


def _cell(name: str, rows: pd.DataFrame, position: int) -> Text:
    column, value = name.partition(" ")[0], rows[name].iloc[position]
    if column in LATENCIES and UNSURE in rows.columns:
        wrong_s, median_s = (rows[one].iloc[position] for one in (UNSURE, "latency_p50_s"))
        return unsure(column, value, wrong_s, median_s)
    return cell(column, value)


def _placed(marks: Marks, shown: Collection[str]) -> dict[tuple[str, str], list[str]]:
    """The marks, those of columns that are not shown put at the thread count."""
    placed: dict[tuple[str, str], list[str]] = {}
    for (row, column), sentences in marks.items():
        placed.setdefault((row, column if column in shown else "threads"), []).extend(sentences)
    return placed

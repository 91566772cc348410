"""Grids: rows of a table as finished cells, each doubt marked at the number that it is about."""

from collections.abc import Collection, Iterator, Mapping, Sequence

import pandas as pd

from mqperf.columns import BACKGROUND, COLUMNS, COUNTS, OUTAGES
from mqperf.report import limits
from mqperf.report.rows import SWEEP
from mqperf.report.rst import Grid, Note, Text
from mqperf.report.words import amount, cell, unsure
from mqperf.tables import varied

ABOUT: Mapping[str, tuple[str, str]] = {
    "failed-run": ("counts", "threads"),
    "received-not-sent": ("counts", "received"),
    "roundtrip-not-received": ("counts", "round_trip"),
    "lost": ("counts", "lost"),
    "negative-lost": ("counts", "lost"),
    "client-errors": ("counts", "errors"),
    "backlog": ("sweep", "latency_mean_s"),
    "missing-run": ("sweep", "threads"),
    "clock-offset": ("sweep", "latency_mean_s"),
    "clock-drift": ("sweep", "latency_mean_s"),
    "background-load": ("background", "load"),
    "action-late": ("outages", "began_s"),
    "not-recovered": ("outages", "recovery_s"),
    "cpu-sum": ("nodes", "threads"),
    "sys-exceeds-total": ("nodes", "threads"),
    "cpu-exceeds-cores": ("nodes", "threads"),
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
    columns = ["threads", *varied(rows), *repeat, *OUTAGES, "lost", "errors"]
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
            found.setdefault((str(row), column), []).append(_told(list(some.unique())))
    return found


def _told(sentences: Sequence[str]) -> str:
    """The first of the sentences about one row by one check, and how many more there are."""
    more = len(sentences) - 1
    return sentences[0] + (f"; likewise in {amount(more, 'other run')}" if more else "")


def _present(rows: pd.DataFrame, columns: Sequence[str], *, keep: Sequence[str]) -> list[str]:
    return [name for name in columns if name in keep or rows[name].notna().any()]


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
    return Grid(caption, tuple(headings.values()), tuple(lines), tuple(notes.values()))


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

"""One page: a topology with a kind of queue, its test cases, and their sections."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd

from mqperf.columns import COLUMNS
from mqperf.report import drawings, grids, rows
from mqperf.report.drawings import Drawing
from mqperf.report.rst import Grid, escape, slug
from mqperf.report.words import TEST_CASES, Layout, TestCase, cell, joined
from mqperf.tables import Tables

Shown = tuple[str, ...]
"""The tables that a page shows of a test case: counts, sweep, nodes."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, what to know, the picture, the table and its data."""

    heading: str
    text: str
    drawing: Drawing
    grid: Grid | None = None
    data: pd.DataFrame | None = None

    @property
    def file(self) -> str:
        """Name of the CSV file with the table's data."""
        return f"{slug(self.grid.caption)}.csv" if self.grid else ""


@dataclass(frozen=True, slots=True)
class Part:
    """A test case: its title, doubts about it as a whole, and its sections if it was measured."""

    title: str
    remarks: tuple[str, ...]
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """Everything that the template of a page asks for."""

    layout: Layout
    threads: str
    summary: tuple[str, ...]
    parts: tuple[Part, ...]
    data: dict[str, Any]

    def write(self, folder: Path) -> None:
        """Write the figures, the CSV of every table and the JSON of the page."""
        for section in (section for part in self.parts for section in part.sections):
            section.drawing.write(folder)
            if section.data is not None:
                section.data.to_csv(folder / section.file, index=False)
        text = json.dumps(self.data, indent=1, ensure_ascii=False)
        (folder / f"{self.layout.folder}.json").write_text(text + "\n", encoding="utf-8")


def page(layout: Layout, tables: Tables) -> Page:
    """The page of one layout."""
    own = {name: layout.of(frame) for name, frame in tables.items()}
    labels = (f"note-{number}" for number in count(1))
    parts = {
        case: {name: layout.of(frame, case) for name, frame in own.items()} for case in TEST_CASES
    }
    return Page(
        layout=layout,
        threads=_threads(own["runs"]),
        summary=tuple(_summary(own["points"])),
        parts=tuple(_part(layout, case, part, labels) for case, part in parts.items()),
        data=_data(layout, own, parts),
    )


def _threads(runs: pd.DataFrame) -> str:
    """How many threads there were, how long they ran, and how often."""
    green, processes, hosts = (
        joined([str(n) for n in sorted(runs[name].dropna().unique())])
        for name in ("green_threads", "processes", "hosts")
    )
    told = ["Threads are green threads of a client process x client processes x client hosts"]
    told[0] += f": {green} x {processes} x {hosts}." if green and processes and hosts else "."
    windows = joined([f"{s:g}" for s in sorted(runs["asked_s"].dropna().unique())])
    repeats = runs.loc[runs["status"] == "done", "repeat"].max()
    if windows and pd.notna(repeats):
        runs_per_point = "once" if repeats == 1 else f"{repeats} times, and the figures are means"
        told.append(f"Every point was measured for {windows} s, {runs_per_point}.")
    return " ".join(told)


def _summary(points: pd.DataFrame) -> Iterator[str]:
    """The best point of every test case, in one sentence each."""
    for case, words in TEST_CASES.items():
        measured = points[points["test_case"].eq(case) & points["throughput_msg_s"].notna()]
        if measured.empty:
            continue
        top = measured.nlargest(1, "throughput_msg_s").iloc[0]
        extra = [
            f"{label} {cell(column, top[column])} {COLUMNS[column].shown}"
            for column, label in (("latency_mean_s", "mean latency"), ("cpu_total_cores", "CPU"))
            if pd.notna(top[column])
        ]
        yield (
            f"**{words.short}**: at most {cell('throughput_msg_s', top['throughput_msg_s'])}"
            f" msg/sec, with {top['threads']} threads"
            + (f" ({', '.join(extra)})." if extra else ".")
        )


def _part(layout: Layout, case: str, tables: Tables, labels: Iterator[str]) -> Part:
    words, doubts = TEST_CASES[case], tables["doubts"]
    about_all = ~doubts["point"].isin(tables["points"]["point"])
    remarks = tuple(doubts.loc[about_all, "text"])
    title = f"Test Case {words.number}: {words.title}"
    if tables["runs"].empty:
        return Part(title, remarks, ())
    own = {**tables, "doubts": doubts[~about_all]}
    return Part(title, remarks, tuple(_sections(layout, case, own, labels)))


def _sections(
    layout: Layout, case: str, tables: Tables, labels: Iterator[str]
) -> Iterator[Section]:
    has_nodes = bool((tables["cpu"]["kind"] == "broker").any())
    shown = ("counts", "sweep", "nodes") if has_nodes else ("counts", "sweep")
    yield _messages(case, tables, shown, labels)
    yield _sweep(layout, case, tables, shown, labels)
    if has_nodes:
        yield _nodes(layout, case, tables, labels)
    if len(tables["intervals"]):
        yield _timeline(case, tables)


def _messages(case: str, tables: Tables, shown: Shown, labels: Iterator[str]) -> Section:
    words, attempts = TEST_CASES[case], rows.attempts(tables)
    marks = grids.marks(tables["doubts"], "counts", "run", shown)
    caption = f"{words.name} Message count"
    return Section(
        "Message processing",
        f"{words.points} Lost messages are {_lost(case)}. The counts are those of whole runs, after"
        " the last message was handled.",
        drawings.counts(caption, attempts),
        grids.count_grid(caption, attempts, marks, labels),
        attempts,
    )


def _lost(case: str) -> str:
    return "attempts with neither reply nor error" if case == "rpc-call" else "sent less received"


def _sweep(
    layout: Layout, case: str, tables: Tables, shown: Shown, labels: Iterator[str]
) -> Section:
    words, figures, system = TEST_CASES[case], rows.sweep(tables), layout.system_title
    what = "throughput and latency"
    if figures["cpu_total_cores"].notna().any():
        what = f"throughput, latency and {system} CPU utilization"
    caption = f"{words.name} {what} depending on thread count"
    marks = grids.marks(tables["doubts"], "sweep", "point", shown)
    return Section(
        f"The {what}",
        " ".join(_explained(words, tables, figures)),
        drawings.sweep(caption, layout, case, figures, set(tables["doubts"]["point"])),
        grids.sweep_grid(caption, figures, system, marks, labels),
        figures,
    )


def _explained(words: TestCase, tables: Tables, figures: pd.DataFrame) -> Iterator[str]:
    """What throughput, latency and CPU mean in this table."""
    if (tables["runs"]["status"] == "published").all():
        yield "The figures are those that were published."
    else:
        yield f"Throughput counts {words.finished} in the measured window."
    yield words.latency
    if figures["cpu_total_cores"].notna().any():
        yield "CPU is that of all broker nodes; 100 % is one hardware thread."
    if figures["throughput_msg_s_low"].notna().any():
        yield "Bars, low and high are the 95 % interval of the mean over the repeats."
    if len(tables["doubts"]):
        yield "A hollow mark is a point with a doubt."


def _nodes(layout: Layout, case: str, tables: Tables, labels: Iterator[str]) -> Section:
    system, name = layout.system_title, TEST_CASES[case].name
    caption = f"{system} nodes CPU consumption during {name} load test"
    used = rows.nodes(tables["cpu"])
    marks = grids.marks(tables["doubts"], "nodes", "point", ("nodes",))
    text = "CPU of each node over the measured window: total, and its system part."
    if (used["kind"] != "broker").any():
        text += " Load generator and host stand beside them."
    return Section(
        f"Detailed {system} CPU consumption",
        text,
        drawings.nodes(caption, tables["cpu"]),
        grids.node_grid(caption, rows.wide(used), marks, labels),
        used,
    )


def _timeline(case: str, tables: Tables) -> Section:
    caption = f"{TEST_CASES[case].name} throughput over time"
    return Section(
        "Throughput over time",
        "Throughput in every second of the measured window, one line per run. The column"
        f" *{escape(COLUMNS['throughput_sd_msg_s'].heading())}* above is its standard deviation.",
        drawings.timeline(caption, tables["intervals"]),
    )


def _data(layout: Layout, own: Tables, parts: Mapping[str, Tables]) -> dict[str, Any]:
    return {
        "format": "mqperf-report-page",
        "version": 1,
        "system": layout.system,
        "topology": layout.topology,
        "queues": layout.queues,
        "runs": _records(own["runs"]),
        "test_cases": {
            case: {
                "messages": _records(rows.attempts(tables)),
                "points": _records(rows.sweep(tables)),
                "nodes": _records(rows.nodes(tables["cpu"])),
                "doubts": _records(tables["doubts"]),
            }
            for case, tables in parts.items()
            if len(tables["runs"])
        },
    }


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = json.loads(
        frame.to_json(orient="records", date_format="iso", date_unit="us")
    )
    return records

"""A trend as a page: folders and what differs, changes, control runs, every sweep over time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from mqperf.pages.figures import labels
from mqperf.pages.figures.ratios import point_label
from mqperf.pages.report import comparison
from mqperf.pages.report.build import write_page, write_page_as_file
from mqperf.pages.report.drawings import Drawing
from mqperf.pages.report.rst import MISSING, Grid, Note
from mqperf.pages.report.words import cell
from mqperf.pages.report.writer import Writer
from mqperf.plan.columns import COLUMNS, TABLES, parameters
from mqperf.plan.test_cases import TEST_CASES, in_unit, unit_of
from mqperf.study.stats.compare import CANNOT_TELL
from mqperf.study.stats.sustained import FIGURE
from mqperf.study.tables import Tables, at, where
from mqperf.study.tables import write as write_tables
from mqperf.study.tables.axes import SWEEP
from mqperf_trend.pages import words
from mqperf_trend.pages.figure import trend_sheet
from mqperf_trend.study.control_cause import found_by
from mqperf_trend.study.trends import FOLDER_VERSIONS, TREND_FIGURES

UNBROKEN = "\N{NON-BREAKING HYPHEN}"


@dataclass(frozen=True, slots=True)
class Part:
    """A test case on a layout: its sustained throughput over time, and each of its points."""

    title: str
    sustained: Drawing
    points: Drawing
    grid: Grid


def write(out: Path, tables: Tables, *, html: bool = True) -> Path:
    """Write the page of a trend into the folder ``out``, and return the page to open.

    ``tables`` are those of ``study.trends.trend``.  An existing report is replaced when the new one
    is complete.  Raises ``ReportError`` when ``out`` holds something else.
    """
    return write_page(out, partial(_write_source, tables=tables), html=html)


def write_file(file: Path, tables: Tables) -> Path:
    """Write the page of a trend as one self-contained HTML file, and return its path.

    Raises ``ReportError`` when ``file`` exists and is no report.
    """
    return write_page_as_file(file, partial(_write_source, tables=tables))


def title(tables: Tables) -> str:
    """The title of the page: how many folders, and the labels of the first and the last."""
    names = list(tables["trend_folders"]["folder_label"])
    return f"Trend of {len(names)} folders, {names[0]} to {names[-1]}"


def sweeps(tables: Tables) -> Iterator[tuple[dict[str, str], Tables]]:
    """Yield each test case on a layout, and the tables with only its rows."""
    points = tables["trend_points"]
    known = points[points["test_case"].isin(list(TEST_CASES))]
    for keys, _ in known.groupby(list(SWEEP), sort=False):
        sweep = dict(zip(SWEEP, map(str, keys), strict=True))
        of_sweep = {name: where(tables[name], **sweep) for name in SWEEP_TABLES}
        yield sweep, {**tables, **of_sweep}


SWEEP_TABLES = ("trend_points", "trend_sustained", "trend_steps")
"""The tables with rows of single sweeps."""


def sustained_sheet(tables: Tables) -> Figure:
    """The sustained throughput of one sweep over folders, and latency at the sustained points."""
    rows = tables["trend_sustained"].copy()
    doubted = tables["trend_points"].set_index(["folder_place", "point"])["doubted"].to_dict()
    places = zip(rows["folder_place"], rows["point"], strict=True)
    rows["doubted"] = [doubted.get(place) for place in places]
    rows["throughput_msg_s"] = rows["sustained_throughput_msg_s"]
    steps = rows[rows["step"].str.startswith(("better", "worse"))]
    return _sheet(rows, tables, steps.assign(figure=FIGURE, word=steps["step"].map(words.word)))


def point_sheet(tables: Tables) -> Figure:
    """Every point of one sweep over the folders; steps with a verdict are marked."""
    steps = tables["trend_steps"]
    judged = steps[steps["verdict"].ne(CANNOT_TELL)]
    marks = [words.word(found_by(row)) for row in judged.to_dict("records")]
    return _sheet(tables["trend_points"], tables, judged.assign(word=marks))


def _sheet(rows: pd.DataFrame, tables: Tables, steps: pd.DataFrame) -> Figure:
    names = list(tables["trend_folders"]["folder_label"])
    hoverable = rows.assign(told=[_hover_text(row) for row in rows.to_dict("records")])
    present = [name for name in TREND_FIGURES if rows[name].notna().any()] or TREND_FIGURES[:1]
    return trend_sheet(hoverable, list(present), labels=names, steps=steps)


def _hover_text(row: Mapping[Any, Any]) -> str:
    """The folder of a mark, the doubts about it, and its point."""
    doubts = [f"doubts: {row['doubted']}"] if pd.notna(row["doubted"]) else []
    return "\n".join([f"{row['folder_label']}, {row['folder']}", *doubts, str(row["point"])])


def _write_source(out: Path, tables: Tables) -> None:
    """Write everything but the HTML."""
    writer = Writer(package="mqperf_trend.pages")
    write_tables(tables, out / "tables")
    parts = list(_parts(tables))
    for part in parts:
        writer.draw(part.sustained, out)
        writer.draw(part.points, out)
    steps = tables["trend_steps"]
    context = {
        "name": title(tables),
        "summary": words.summary(tables),
        "marks": list(words.marks(tables)),
        "folders": _folders(tables["trend_folders"]),
        "differences": _differences(tables),
        "changes": _steps("", words.changes(steps), tables),
        "drifts": _steps("Drift of the machine", words.drifts(steps), tables),
        "control_runs": _control_runs(tables),
        "sustained": _sustained(tables),
        "moves": list(words.moves(tables)),
        "rules": list(words.rules(tables)),
        "parts": parts,
        "tables": {name: TABLES[name].row for name in tables},
    }
    writer.render("trend.rst", out / "index.rst", context)
    writer.furnish(out, {"format": "mqperf-trend", "version": 1, "title": title(tables)})
    writer.finish()


def _folders(folders: pd.DataFrame) -> Grid:
    shown = [name for name in FOLDER_VERSIONS if folders[name].notna().any()]
    headings = (
        *("", "label", "measured, UTC", "folder"),
        *(COLUMNS[name].heading() for name in shown),
        *("machine", "points", "doubts", "control runs"),
    )
    counts = ("points_measured", "doubts_raised", "control_runs_made")
    lines = [
        (
            str(row["folder_place"]),
            str(row["folder_label"]),
            MISSING if pd.isna(row["started"]) else f"{row['started']:%Y-%m-%d %H:%M}",
            str(row["folder"]),
            *(cell(name, row[name]) for name in shown),
            f"{row['machine_number']}: {row['hardware']}",
            *(cell(name, row[name]) for name in counts),
        )
        for row in folders.to_dict("records")
    ]
    return Grid("", headings, tuple(lines), style="")


def _differences(tables: Tables) -> Grid:
    labels_of = words.labels(tables)
    lines = [
        (
            _step(row, labels_of),
            str(row["aspect"]),
            *(str(row[name]) for name in ("what", "value_in_a", "value_in_b")),
        )
        for row in tables["trend_differences"].to_dict("records")
    ]
    return Grid("", ("step", "of", "", "before", "after"), tuple(lines), style="")


def _steps(caption: str, rows: pd.DataFrame, tables: Tables) -> Grid:
    """A row for each of these steps; doubts are in notes below, other differences come last."""
    labels_of = words.labels(tables)
    about = rows["doubted"].dropna().unique()
    notes = {
        text: Note(f"{'drift' if caption else 'change'}-{n}", text)
        for n, text in enumerate(about, 1)
    }
    headings = (
        *("step", "point", "figure", "reference", "after", "ratio", "95 % interval", "found"),
        *("control runs, ratio", "beyond these", "what else differs"),
    )
    lines = []
    for row in rows.to_dict("records"):
        mark = notes[row["doubted"]].mark if pd.notna(row["doubted"]) else ""
        beyond = row["beyond_control"]
        lines.append(
            (
                _step(row, labels_of),
                cell("point", point_label(row)) + mark,
                in_unit(COLUMNS[str(row["figure"])].heading(), unit_of(row["test_case"])),
                words.reference(row),
                comparison.value(row, "value_b"),
                comparison.ratio(row),
                comparison.interval(row) or MISSING,
                found_by(row),
                words.control(row),
                MISSING if pd.isna(beyond) else f"{beyond:.3f}",
                MISSING if pd.isna(row["differs"]) else str(row["differs"]),
            )
        )
    return Grid(caption, headings, tuple(lines), tuple(notes.values()), style="named")


def _control_runs(tables: Tables) -> Grid:
    labels_of = words.labels(tables)
    lines = [
        (
            _step(row, labels_of),
            point_label(row),
            in_unit(COLUMNS[str(row["figure"])].heading(), unit_of(row["test_case"])),
            *(comparison.value(row, name) for name in ("value_a", "value_b")),
            comparison.ratio(row),
            comparison.interval(row) or MISSING,
            str(row["verdict"]),
        )
        for row in tables["trend_control_runs"].to_dict("records")
    ]
    headings = ("step", "point", "figure", "before", "after", "ratio", "95 % interval", "verdict")
    return Grid("", headings, tuple(lines), style="")


def _sustained(tables: Tables) -> Grid:
    """The sustained throughput of each sweep, in the first and in the last folder."""
    lines = []
    for _, rows in tables["trend_sustained"].groupby(list(SWEEP), sort=False, dropna=False):
        sustaining = rows[rows["sustained_throughput_msg_s"].notna()]
        first, last = rows.iloc[0].to_dict(), rows.iloc[-1].to_dict()
        shown = comparison.of_sweep
        ends = [f"{row['folder_label']}: {_sustained_at(row)}" for row in (first, last)]
        lines.append(
            (
                comparison.sweep_label(last),
                *ends,
                MISSING if pd.isna(last["ratio"]) else f"{last['ratio']:.3f}",
                words.step(last),
                shown(last, "highest_throughput_msg_s"),
                f"{len(sustaining)} of {len(rows)}",
            )
        )
    headings = (
        *("", "at first", "at last", "last / the one before", "step from its reference"),
        *("last raw maximum", "folders that sustain any"),
    )
    return Grid("", headings, tuple(lines), style="")


def _sustained_at(row: Mapping[Any, Any]) -> str:
    """The sustained throughput, and at which point."""
    rate = comparison.of_sweep(row, "sustained_throughput_msg_s")
    return rate if pd.isna(row["sustained_at"]) else f"{rate} at {row['sustained_at']}"


def _parts(tables: Tables) -> Iterator[Part]:
    several = len(tables["trend_points"]["system"].dropna().unique()) > 1
    for sweep, of_sweep in sweeps(tables):
        case = TEST_CASES[sweep["test_case"]]
        system = f", {sweep['system']}" if several else ""
        layout = labels.layout(sweep["topology"], sweep["queues"])
        name = f"{case.title} on {sweep['topology']} {sweep['queues']} of {sweep['system']}"
        yield Part(
            f"{case.title}: {layout}{system}",
            Drawing(
                f"{name}, sustained", _alt_sustained(of_sweep), partial(sustained_sheet, of_sweep)
            ).counting(case.unit),
            Drawing(
                f"{name}, points", _alt_points(of_sweep), partial(point_sheet, of_sweep)
            ).counting(case.unit),
            _points(of_sweep, case.unit),
        )


def _alt_sustained(tables: Tables) -> str:
    phrases = [
        f"{row['folder_label']} {_sustained_at(row)}"
        for row in tables["trend_sustained"].to_dict("records")
    ]
    return f"Sustained throughput and its latency over folders: {'; '.join(phrases)}."


def _alt_points(tables: Tables) -> str:
    steps = tables["trend_steps"]
    labels_of = words.labels(tables)
    phrases = [
        f"{words.word(found_by(row))} in {COLUMNS[row['figure']].label} of {row['threads']} threads"
        f" in {labels_of[row['folder_b']]}"
        for row in steps[steps["verdict"].ne(CANNOT_TELL)].to_dict("records")
    ]
    count = len(tables["trend_points"].drop_duplicates(["point"]))
    return (
        f"Throughput, median and p99 latency of {count} points over"
        f" {len(labels_of)} folders; {'; '.join(phrases) or 'no step is significant'}."
    )


def _points(tables: Tables, unit: str) -> Grid:
    """A row for each point in each folder: throughput with its interval, p50 and p99."""
    rows = tables["trend_points"]
    varying = [name for name in parameters() if name in rows.columns and rows[name].notna().any()]
    keys = ("threads", *varying)
    ordered = rows.sort_values([*keys, "folder_place"], kind="stable")
    headings = (
        "point",
        "folder",
        *(in_unit(COLUMNS[name].heading(), unit) for name in TREND_FIGURES[:1]),
        "95 % interval",
        *(COLUMNS[name].heading() for name in TREND_FIGURES[1:]),
        "repeats",
        "doubts",
    )
    lines = [
        (
            at(row, keys),
            str(row["folder_label"]),
            cell(TREND_FIGURES[0], row[TREND_FIGURES[0]]),
            _interval(row, TREND_FIGURES[0]),
            *(cell(name, row[name]) for name in TREND_FIGURES[1:]),
            cell("repeats", row["repeats"]),
            MISSING if pd.isna(row["doubted"]) else str(row["doubted"]),
        )
        for row in ordered.to_dict("records")
    ]
    return Grid("", headings, tuple(lines), style="")


def _step(row: Mapping[Any, Any], labels_of: Mapping[str, str]) -> str:
    """The labels of both folders of a step, with days that do not break across lines."""
    days = (labels_of[row[name]].replace("-", UNBROKEN) for name in ("folder_a", "folder_b"))
    return " \N{RIGHTWARDS ARROW} ".join(days)


def _interval(row: Mapping[Any, Any], figure: str) -> str:
    ends: Sequence[float] = [row[f"{figure}_{end}"] for end in ("low", "high")]
    return MISSING if any(map(pd.isna, ends)) else " to ".join(cell(figure, end) for end in ends)

"""The page of a comparison of two sets of runs: answers, ratios, differing facts, curves."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd

from mqperf.base.one_line import amount, one_line
from mqperf.pages import figures
from mqperf.pages.figures import labels
from mqperf.pages.figures.ratios import axes_of
from mqperf.pages.report import comparison as words
from mqperf.pages.report import drawings
from mqperf.pages.report.build import write_page, write_page_as_file
from mqperf.pages.report.drawings import Drawing
from mqperf.pages.report.rst import MISSING, Grid, Note, Text
from mqperf.pages.report.words import cell
from mqperf.pages.report.writer import Writer
from mqperf.plan.columns import COLUMNS, TABLES, parameters
from mqperf.plan.test_cases import TEST_CASES, in_unit
from mqperf.study.stats.compare import HIGHER_IS_BETTER
from mqperf.study.stats.differences import ASPECTS
from mqperf.study.stats.sustained import FIGURE
from mqperf.study.tables import Tables, varied, where
from mqperf.study.tables import write as write_tables
from mqperf.study.tables.axes import FACTORS, SWEEP

Sides = Sequence[tuple[str, Tables]]
"""Name of the source, and complete tables, of A and of B."""


@dataclass(frozen=True, slots=True)
class Part:
    """A test case on a layout: curves of both sets, and a table with a row per figure and point."""

    title: str
    drawing: Drawing
    grid: Grid


def write(out: Path, sides: Sides, tables: Tables, *, html: bool = True) -> Path:
    """Write the page of a comparison into the folder ``out``, and return the page to open.

    ``tables`` are those of ``stats.compared``.  An existing report is replaced once the new one is
    complete.  Raises ``ReportError`` when ``out`` holds something else.
    """
    return write_page(out, partial(_write_source, sides=sides, tables=tables), html=html)


def write_file(file: Path, sides: Sides, tables: Tables) -> Path:
    """Write the page as one self-contained HTML file, and return its path.

    Raises ``ReportError`` when ``file`` exists and is not a report.
    """
    return write_page_as_file(file, partial(_write_source, sides=sides, tables=tables))


def _write_source(out: Path, sides: Sides, tables: Tables) -> None:
    """Write everything but the HTML."""
    writer, compared = Writer(), tables["comparison"]
    write_tables(tables, out / "tables")
    name = one_line(" and ".join(name for name, _ in sides))
    answers = list(words.answers(compared))
    ratios = Drawing("Ratios B / A", " ".join(answers), partial(figures.ratio_sheet, compared))
    parts = list(_parts(sides, compared))
    for drawing in (ratios, *(part.drawing for part in parts)):
        writer.draw(drawing, out)
    context = {
        "name": name,
        "answers": answers,
        "sides": [_about(*pair) for pair in zip("AB", sides, strict=True)],
        "differences": list(_differences(tables["differences"])),
        "sustained": _sustained(tables["sustained_compared"]),
        "rules": list(words.rules(compared)),
        "drawing": ratios,
        "parts": parts,
        "tables": {name: TABLES[name].row for name in tables},
    }
    writer.render("comparison.rst", out / "index.rst", context)
    writer.furnish(out, {"format": "mqperf-comparison", "version": 1, "title": name})
    writer.finish()


def _about(side: str, source: tuple[str, Tables]) -> str:
    """Return a sentence on the source of a set, and its numbers of points and doubts."""
    name, tables = source
    points = amount(len(tables["points"]), "point")
    return f"{side} is {name}: {points}, {amount(len(tables['doubts']), 'doubt')}."


def _differences(differences: pd.DataFrame) -> Iterator[Grid]:
    """Yield a table for each aspect in which A and B differ."""
    for aspect in ASPECTS:
        rows = where(differences, aspect=aspect)
        if len(rows):
            values = rows[["what", "value_in_a", "value_in_b"]].astype(str)
            lines = tuple(values.itertuples(index=False, name=None))
            yield Grid(aspect.capitalize(), ("", "A", "B"), lines, style="")


def _sustained(rows: pd.DataFrame) -> Grid:
    headings = ("", "A", "B", "B / A", "raw maximum of A", "raw maximum of B")
    lines = [
        (
            words.sweep_label(row),
            *(words.of_sweep(row, name) for name in ("value_a", "value_b")),
            MISSING if pd.isna(row["ratio"]) else words.ratio(row),
            *(words.of_sweep(row, name) for name in ("highest_a", "highest_b")),
        )
        for row in rows.to_dict("records")
    ]
    return Grid("", headings, tuple(lines), style="")


def _parts(sides: Sides, comparison: pd.DataFrame) -> Iterator[Part]:
    several_systems = len(comparison["system"].dropna().unique()) > 1
    note_labels = (f"doubts-{number}" for number in count(1))
    for _, rows in comparison.groupby(list(SWEEP), sort=False, dropna=False):
        first = rows.iloc[0]
        sweep = {name: str(first[name]) for name in SWEEP if pd.notna(first[name])}
        case = TEST_CASES[sweep["test_case"]]
        system = f", {sweep['system']}" if several_systems else ""
        layout = labels.layout(sweep["topology"], sweep["queues"])
        compared = [name for name in HIGHER_IS_BETTER if (rows["figure"] == name).any()]
        file = f"{case.title} on {sweep['topology']} {sweep['queues']}{system}"
        drawing = drawings.overlaid(file, _points(sides, sweep), compared)
        yield Part(
            f"{case.title}: {layout}{system}",
            drawing.counting(case.unit),
            _grid(rows, compared, case.unit, note_labels),
        )


def _points(sides: Sides, sweep: Mapping[str, str]) -> pd.DataFrame:
    """Return the points of both sets in a sweep, with the columns ``side`` and ``doubted``.

    Factors that vary within neither set are dropped: A and B may differ in these as a whole.
    """
    frames = []
    for side, (_, tables) in zip("AB", sides, strict=True):
        points = where(tables["points"], **sweep).dropna(subset=[FIGURE])
        doubted = points["point"].isin(tables["doubts"]["point"])
        frames.append(points.assign(side=side, doubted=doubted))
    varying = {name for points in frames for name in varied(points)}
    both = pd.concat(frames, ignore_index=True)
    constant = {*FACTORS, *parameters()} - varying
    return both.drop(columns=[name for name in both.columns if name in constant])


def _grid(
    rows: pd.DataFrame, compared: Sequence[str], unit: str, note_labels: Iterator[str]
) -> Grid:
    """Return a table with a row per figure and point, figure after figure; doubts are notes."""
    keys = ("threads", *(name for name in axes_of(rows) if rows[name].notna().any()))
    headings = (
        "figure",
        *(COLUMNS[name].heading() for name in keys),
        *("A", "B", "B / A", "95 % interval", "verdict", "shows", "repeats to decide"),
    )
    doubted = rows["doubted"].dropna().unique()
    notes = {text: Note(next(note_labels), text) for text in doubted}
    lines = [
        _line(row, keys, unit, notes)
        for name in compared
        for row in where(rows, figure=name).to_dict("records")
    ]
    return Grid("", headings, tuple(lines), tuple(notes.values()), style="numbers named")


def _line(
    row: Mapping[Any, Any], keys: Sequence[str], unit: str, notes: Mapping[str, Note]
) -> tuple[str, ...]:
    mark = notes[row["doubted"]].mark if pd.notna(row["doubted"]) else Text()
    return (
        in_unit(COLUMNS[str(row["figure"])].heading(), unit),
        cell("threads", row["threads"]) + mark,
        *(cell(name, row[name]) for name in keys[1:]),
        *(words.value(row, name) for name in ("value_a", "value_b")),
        words.ratio(row),
        words.interval(row) or MISSING,
        words.verdict(row),
        words.detectable(row),
        words.repeats_to_decide(row),
    )

"""Forms of a section: data frame, lines of text, grid of a page, and records for JSON."""

import json
from collections.abc import Collection, Iterator, Mapping
from textwrap import wrap
from typing import Any

import pandas as pd
from markupsafe import Markup
from pandas.api.types import is_numeric_dtype

from mqperf.pages.report import run_sheets
from mqperf.pages.report.rst import Grid, Note, Text
from mqperf.pages.report.run_sheets import Sheets
from mqperf.pages.report.words import cell, unsure
from mqperf.pages.sections.points import LATENCIES
from mqperf.pages.sections.section import Content, Marks, View
from mqperf.plan.columns import COLUMNS
from mqperf.study.tables.clocks import UNSURE

NOTES = "notes"


def frame(content: Content) -> pd.DataFrame:
    """Return the table with numbers in display units, and the headings of pages.

    Remarks on a row are in the column ``notes``, and the error bound of latencies from the clocks
    of hosts in a column of its own; either column is omitted if it would be empty.
    """
    if content.rows is None:
        return pd.DataFrame()
    rows, columns = content.rows, {**content.columns}
    if UNSURE in rows.columns and UNSURE not in columns and rows[UNSURE].gt(0).any():
        columns[UNSURE] = COLUMNS[UNSURE].heading()
    table = pd.DataFrame({heading: scaled(rows, name) for name, heading in columns.items()})
    notes = _notes(content)
    return table.assign(**{NOTES: notes}) if any(notes) else table


def lines(content: Content, width: int) -> Iterator[str]:
    """Yield heading, sentences and table for a terminal of that many columns.

    Each row of a wider table becomes a paragraph.
    """
    yield content.heading
    for text in content.words:
        yield from wrap(plain(text), width, initial_indent="  ", subsequent_indent="  ")
    if content.rows is not None:
        yield ""
        yield from table_lines(content, width)


def table_lines(content: Content, width: int) -> Iterator[str]:
    """Yield the table alone: numbers right-aligned, texts left-aligned; notes below their row."""
    headings, rows = [*content.columns.values()], content.rows
    if rows is None:
        return
    table = [
        [str(finished(name, rows, index)) for name in content.columns] for index in range(len(rows))
    ]
    notes = _notes(content)
    numbers = [False, *(is_numeric_dtype(rows[name]) for name in [*content.columns][1:])]
    widths = [max(map(len, column)) for column in zip(headings, *table, strict=True)]
    if sum(widths) + 2 * (len(widths) - 1) <= width:
        for row, note in zip([headings, *table], ["", *notes], strict=True):
            cells = zip(row, widths, numbers, strict=True)
            aligned = [f"{text:{'>' if right else '<'}{size}}" for text, size, right in cells]
            yield "  ".join(aligned).rstrip()
            yield from wrap(note, width, initial_indent="    ", subsequent_indent="    ")
        return
    keys = next((index for index, is_number in enumerate(numbers) if is_number), 1)
    for row, note in zip(table, notes, strict=True):
        pairs = [f"{head}: {text}" for head, text in zip(headings[keys:], row[keys:], strict=True)]
        title = row[:keys] if keys > 1 else [f"{headings[0]}: {row[0]}"]
        yield from wrap(", ".join(title), width, subsequent_indent="    ")
        for text in filter(None, ["; ".join(pairs), note]):
            yield from wrap(text, width, initial_indent="    ", subsequent_indent="    ")


def finished(name: str, rows: pd.DataFrame, index: int) -> str:
    """Format the cell in a column and the row at an index from 0; numbers are finished RST."""
    column, value = name.partition(" ")[0], rows[name].iloc[index]
    if isinstance(value, str):
        return value
    if column in LATENCIES and UNSURE in rows.columns:
        error_s, median_s = (rows[key].iloc[index] for key in (UNSURE, "latency_p50_s"))
        return unsure(column, value, error_s, median_s)
    return cell(column, value)


def grid(content: Content, labels: Iterator[str], sheets: Sheets) -> Grid | None:
    """Return the table of a section for a page; ``labels`` yields labels of footnotes.

    The first cell of a row links to its run, or to the first run of its point.
    """
    rows = content.rows
    if rows is None:
        return None
    keys = tuple(map(str, rows[content.key])) if content.key else ()
    marks = _on_shown_columns(content.marks, content.columns)
    notes: dict[str, Note] = {}
    lines = []
    for position in range(len(rows)):  # a run may have several rows
        key = keys[position] if keys else ""
        line = []
        for name in content.columns:
            sentences = marks.get((key, name), [])
            for text in sentences:
                if text not in notes:
                    notes[text] = Note(next(labels), text)
            references = Text("").join(notes[text].mark for text in sentences)
            line.append(Text.escape(finished(name, rows, position)) + references)
        if key:
            line[0] = run_sheets.linked(line[0], sheets.get(key))
        lines.append(tuple(line))
    return Grid(
        content.caption,
        tuple(content.columns.values()),
        tuple(lines),
        tuple(notes.values()),
        style=content.style,
    )


def document(view: View, content: Content) -> dict[str, Any]:
    """Return a section for JSON: layout and test case, sentences, rows in SI units, and notes.

    A note is a remark on a number: ``about`` is the run or point of its row.
    """
    layout = view.layout
    return {
        "system": layout.system,
        "topology": layout.topology,
        "queues": layout.queues,
        "test_case": view.test_case,
        "heading": content.heading,
        "text": [plain(text) for text in content.words],
        "rows": [] if content.behind is None else of_frame(content.behind),
        "notes": [
            {"about": about, "column": column, "text": text}
            for (about, column), sentences in content.marks.items()
            for text in sentences
        ],
    }


def of_frame(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a data frame for JSON: times as ISO 8601, missing values as null."""
    return list(json.loads(rows.to_json(orient="records", date_format="iso", date_unit="us")))


def _on_shown_columns(marks: Marks, shown: Collection[str]) -> Mapping[tuple[str, str], list[str]]:
    """Return the marks; those of columns that are not shown move to the thread count."""
    placed: dict[tuple[str, str], list[str]] = {}
    for (row, column), sentences in marks.items():
        placed.setdefault((row, column if column in shown else "threads"), []).extend(sentences)
    return placed


def scaled(rows: pd.DataFrame, name: str) -> pd.Series:
    """Return the values of a column in its display unit; ``name`` may have a process behind it."""
    column = COLUMNS.get(name.partition(" ")[0])
    return rows[name] if column is None or column.scale == 1 else rows[name] * column.scale


def _notes(content: Content) -> list[str]:
    """Return the remarks on the numbers of each row."""
    if content.rows is None or not content.key:
        return [""] * (0 if content.rows is None else len(content.rows))
    notes: dict[str, list[str]] = {}
    for (row, _), sentences in content.marks.items():
        notes.setdefault(row, []).extend(sentences)
    return ["; ".join(notes.get(str(key), ())) for key in content.rows[content.key]]


def plain(text: str) -> str:
    """Return a sentence without the markup of reStructuredText."""
    if not isinstance(text, Markup):
        return text
    return str(text).replace("**", "").replace("*", "").replace("\\", "")

"""Tables of sections as RST, with a footnote mark for each doubt at the number it is about."""

from collections.abc import Collection, Iterator, Mapping

from mqperf.pages.report import run_sheets
from mqperf.pages.report.rst import Grid, Note, Text
from mqperf.pages.report.run_sheets import Sheets
from mqperf.pages.sections.forms import finished
from mqperf.pages.sections.section import Content, Marks


def grid(content: Content, labels: Iterator[str], sheets: Sheets) -> Grid | None:
    """Return the table of a section, if it has one; ``labels`` yields labels of footnotes.

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


def _on_shown_columns(marks: Marks, shown: Collection[str]) -> Mapping[tuple[str, str], list[str]]:
    """Return the marks; those of columns that are not shown move to the thread count."""
    placed: dict[tuple[str, str], list[str]] = {}
    for (row, column), sentences in marks.items():
        placed.setdefault((row, column if column in shown else "threads"), []).extend(sentences)
    return placed

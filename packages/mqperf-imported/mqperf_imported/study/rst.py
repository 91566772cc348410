"""Reads the figures of a report in the layout of OpenStack's performance-docs."""

from collections.abc import Iterator
from pathlib import Path

from mqperf.base.errors import TableError
from mqperf_imported.study import documents, remarks, words
from mqperf_imported.study.cells import Cell, Key, Meaning, Report, meaning, thread_count, value
from mqperf_imported.study.documents import Document, Grid, Phrase
from mqperf_imported.study.words import Identity

THREADS = "threads"
"""The first heading of every table of figures."""

SOFTWARE = {"OS": "os", "Kernel": "kernel", "Erlang": "runtime_version", "Java": "runtime_version"}
"""Rows of a report's software table, and their columns of ``runs``."""


def read(path: Path, label: str) -> Report:
    """Return all figures of a report; ``label`` is the file's name in sources and messages.

    Raises ``TableError`` if it is not such a report, or its tables are ambiguous.
    """
    document = documents.read(path, label)
    about = words.identity(document)
    tables = _tables_of_figures(document)
    cells = tuple(cell for grid in tables for cell in _cells(grid, about, label))
    if not cells:
        raise TableError(
            f"{label}: holds no table of figures, such as one captioned 'RPC CALL Message count';"
            " give a report, not an overview"
        )
    return Report(
        cells=cells,
        remarks=tuple(remarks.of_document(document, about, tables)),
        facts=_facts(document, about),
    )


def _tables_of_figures(document: Document) -> list[Grid]:
    """Return the tables of figures by number of threads, which have unique captions."""
    tables = [grid for grid in document.grids if _has_figures(grid)]
    first: dict[str, Phrase] = {}
    for grid in tables:
        caption = grid.caption
        if words.test_case_of_caption(caption) is None:
            raise TableError(
                f"{document.label}:{caption.line}: the caption {caption.text!r} does not say of"
                " which test case and what; expected one such as 'RPC CALL Message count'"
            )
        earlier = first.setdefault(caption.text.lower(), caption)
        if earlier is not caption:
            raise TableError(
                f"{document.label}:{caption.line}: a second table captioned {caption.text!r}; the"
                f" first is in line {earlier.line}; keep the correct one"
            )
    return tables


def _has_figures(grid: Grid) -> bool:
    captioned = words.test_case_of_caption(grid.caption) is not None
    return captioned or grid.headings[0].text == THREADS


def _cells(grid: Grid, about: Identity, label: str) -> Iterator[Cell]:
    meanings = _meanings(grid, label)
    for row in grid.rows:
        source = f"{label}:{row[0].line}"
        key = Key(
            about.system,
            about.topology,
            about.queues,
            str(words.test_case_of_caption(grid.caption)),
            thread_count(row[0].text, source),
        )
        for figure, cell in zip(meanings, row[1:], strict=True):
            yield Cell(key, figure, value(cell.text, figure.column, source), source)


def _meanings(grid: Grid, label: str) -> list[Meaning]:
    first, *rest = grid.headings
    meanings = [meaning(heading.text) for heading in rest]
    unknown = [heading for heading, figure in zip(rest, meanings, strict=True) if figure is None]
    if first.text != THREADS:
        unknown.insert(0, first)
    if unknown:
        raise TableError(
            f"{label}:{unknown[0].line}: table {grid.caption.text!r} has a column"
            f" {unknown[0].text!r}, which no report of this kind has"
        )
    return [figure for figure in meanings if figure is not None]


def _facts(document: Document, about: Identity) -> dict[str, str | int]:
    """Return facts of the report about its runs: system, software, green threads, hosts."""
    facts: dict[str, str | int] = {"system_title": about.title}
    for grid in document.grids:
        if [heading.text for heading in grid.headings] == ["Parameter", "Value"]:
            for row in grid.rows:
                facts |= _software(row[0].text, row[1].text, about)
    green = words.green_threads(document.paragraphs)
    if green is not None:
        facts["green_threads"] = green
    if words.same_host(document.paragraphs):
        facts["hosts"] = 1
    return facts


def _software(name: str, text: str, about: Identity) -> dict[str, str]:
    if name == "oslo.messaging":
        return {"generator_version": f"{name} {text}"}
    if name == about.title:
        return {"system_version": text}
    return {SOFTWARE[name]: text} if name in SOFTWARE else {}

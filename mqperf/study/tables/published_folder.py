"""Folders of published tables: CSV files and ``published.json``, which identifies them."""

import csv
import io
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import pandas as pd

from mqperf.base.errors import TableError
from mqperf.plan.columns import COLUMNS, TABLES
from mqperf.study.tables.given import MIB, text_of
from mqperf.study.tables.shape import MEANT, conform, empty
from mqperf.study.tables.spreadsheets import unmarked

PUBLISHED = "published.json"
"""The file that identifies such a folder."""

INTEGERS = ("Int64", "int64")
NUMBER_FORMATS = {
    **dict.fromkeys(INTEGERS, ("-?[0-9]{1,18}", "a whole number of at most 18 digits")),
    "float64": ("-?[0-9]+([.][0-9]*)?(e[-+]?[0-9]{1,2})?", "a number"),
}
"""Type -> pattern of its numbers, and their description in messages."""

SHOWN = 40
"""Characters of an invalid cell that a message quotes."""

FACTS_LIMIT_BYTES = MIB
TABLE_LIMIT_BYTES = 64 * MIB


def is_published(folder: Path) -> bool:
    """Whether the folder is marked as one of published tables."""
    return os.path.lexists(folder / PUBLISHED)


def facts(folder: Path) -> Mapping[str, object]:
    """The content of ``published.json``; raises ``TableError`` unless it has at least a title."""
    file = folder / PUBLISHED
    remedy = f"import the report again: mqperf import REPORT --out {folder}"
    try:
        content = json.loads(text_of(file, file, FACTS_LIMIT_BYTES))
    except (ValueError, RecursionError) as error:
        line = f":{error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise TableError(f"{file}{line}: is not JSON of mqperf; {remedy}") from None
    if not isinstance(content, dict) or not isinstance(content.get("title"), str):
        raise TableError(f"{file}: has no title; {remedy}")
    return content


def read_tables(folder: Path, names: Iterable[str]) -> dict[str, pd.DataFrame]:
    """Read the tables from CSV files of the folder; those without a file are empty.

    Raises ``TableError`` with file and line for content that does not conform to ``TABLES``.
    """
    facts(folder)
    return {name: _read(name, _file(folder, name)) for name in names}


def _file(folder: Path, name: str) -> Path:
    """The file of a table, under its former name if the folder has that."""
    former = folder / f"{TABLES[name].former or name}.csv"
    return former if os.path.lexists(former) else folder / f"{name}.csv"


def _read(name: str, file: Path) -> pd.DataFrame:
    if not os.path.lexists(file):
        return empty(name)
    text = text_of(file, file, TABLE_LIMIT_BYTES)
    lines = _row_lines(name, text, file)
    # only empty cells are missing values, and text stays text: 3.10 is a version, not 3.1
    frame = pd.read_csv(
        io.StringIO(text), dtype="string", keep_default_na=False, na_values=[""], index_col=False
    )
    for column in frame:
        if COLUMNS[str(column)].dtype in INTEGERS:  # some programs write 5 as 5.0
            frame[column] = frame[column].str.replace(r"\.0*$", "", regex=True)
        elif COLUMNS[str(column)].dtype == "string":
            frame[column] = unmarked(frame[column])
    with suppress(TableError, ValueError, OverflowError):  # the cell is located below
        if all(_malformed(frame[column]).empty for column in frame):
            return conform(name, frame)
    column, row = _first_problem(name, frame)
    problem = _problem(name, frame[[column]].iloc[[row]])
    raise TableError(f"{file}:{lines[row]}: {column} {problem}")


def _row_lines(name: str, text: str, file: Path) -> list[int]:
    """The line in which each row ends; raises ``TableError`` for a bad header or cell count."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        columns = next(reader, [])
        _check_columns(name, columns, file)
        lines = []
        for cells in reader:
            if cells and len(cells) != len(columns):
                raise TableError(
                    f"{file}:{reader.line_num}: {len(cells)} cells under {len(columns)} columns"
                )
            if cells:
                lines.append(reader.line_num)
    except csv.Error as error:
        raise TableError(f"{file}:{reader.line_num}: cannot be read as CSV: {error}") from None
    return lines


def _check_columns(name: str, columns: list[str], file: Path) -> None:
    if not columns:
        raise TableError(f"{file}:1: has no columns; delete the file if there is no such table")
    column, count = Counter(columns).most_common(1)[0]
    if count > 1:
        raise TableError(f"{file}:1: has the column {column!r} {count} times")
    for column in columns:
        if column not in TABLES[name].with_parameters(columns):
            raise TableError(f"{file}:1: unknown column {column!r} of table {name}")


def _problem(name: str, frame: pd.DataFrame) -> str | None:
    """The first problem in the cells of a column, or None."""
    column = str(frame.columns[0])
    if len(malformed := _malformed(frame[column])):
        return f"is {malformed.iloc[0][:SHOWN]!r}, not {_format(column)[1]}"
    try:
        conform(name, frame)
    except (TableError, ValueError, OverflowError):
        check = COLUMNS[column].check
        required = "must be an instant" if check == "any" else f"must be {MEANT.get(check, check)}"
        return f"is {frame[column].iloc[0][:SHOWN]!r}, {required}"
    return None


def _malformed(cells: pd.Series) -> pd.Series:
    """The cells of a column that do not match the format of its type."""
    pattern, _ = _format(str(cells.name))
    return cells[~cells.str.fullmatch(pattern, flags=re.DOTALL).fillna(value=True)]


def _format(column: str) -> tuple[str, str]:
    """The format of a column's cells: a pattern, and a description."""
    return NUMBER_FORMATS.get(COLUMNS[column].dtype, (".*", ""))


def _first_problem(name: str, frame: pd.DataFrame) -> tuple[str, int]:
    """Column and row of the first invalid cell, found by bisection."""
    column = next(column for column in frame if _problem(name, frame[[column]]))
    first, end = 0, len(frame)
    while end - first > 1:
        middle = (first + end) // 2
        if _problem(name, frame[[column]].iloc[first:middle]):
            end = middle
        else:
            first = middle
    return str(column), first

"""The data dictionary: every table with its columns, from the register of columns."""

from mqperf.columns import COLUMNS, TABLES, Column, Table

from .grid import code, prose, table

HEADS = ("column", "type", "unit", "meaning")
KEYED = [TABLES[name] for name in TABLES if name != "points"]
KEYS = [name for name in TABLES["runs"].columns if all(name in t.columns for t in KEYED)]
"""The columns by which the rows of all tables are joined."""


def markdown() -> str:
    """A section for the keys, and one for each table."""
    keys = f"## Keys\n\nEvery table begins with these.\n\n{_rows(KEYS)}"
    return "\n".join([keys, *map(_section, TABLES.values())])


def _section(of: Table) -> str:
    own = [name for name in of.columns if name not in KEYS]
    without = [code(name) for name in KEYS if name not in of.columns]
    note = f" It has no {' and no '.join(without)}." if without else ""
    return f"## {of.name}\n\nOne row is {of.row}.{note}\n\n{_rows(own)}"


def _rows(names: list[str]) -> str:
    return table(HEADS, (_row(COLUMNS[name]) for name in names))


def _row(column: Column) -> tuple[str, ...]:
    limits = f", {column.check}" if column.check != "any" else ""
    heading = column.heading()
    shown = f" Shown as *{prose(heading)}*." if heading != column.name else ""
    return code(column.name), f"{column.dtype}{limits}", column.unit, prose(column.meaning) + shown

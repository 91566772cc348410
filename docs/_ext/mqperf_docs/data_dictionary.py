"""The data dictionary: every table with its columns, from the register of columns."""

from mqperf.plan.columns import COLUMNS, TABLES, Column, Table, parameters

from .grid import code, prose, table

HEADS = ("column", "type", "unit", "meaning")
KEYED = [table for table in TABLES.values() if "run" in table.columns]
KEYS = [name for name in TABLES["runs"].columns if all(name in t.columns for t in KEYED)]
"""The columns by which the rows of all tables about runs are joined."""


def markdown() -> str:
    """A section for the keys, and one for each table."""
    others = ", ".join(code(name) for name, of in TABLES.items() if of not in KEYED)
    told = f"Every table about runs begins with these; {others} have those that are said there."
    keys = f"## Keys\n\n{told}\n\n{_rows(TABLES['runs'], KEYS)}"
    return "\n".join([keys, *map(_section, TABLES.values()), _parameters()])


def _section(of: Table) -> str:
    own = [name for name in of.columns if name not in KEYS]
    keys = [code(name) for name in KEYS if name in of.columns]
    note = (
        "" if of in KEYED else f" Its keys are {', '.join(keys)}." if keys else " It has no keys."
    )
    return f"## {of.name}\n\nOne row is {of.row}.{note}\n\n{_rows(of, own)}"


def _parameters() -> str:
    """What further columns tables have in which a parameter is told."""
    swept = ", ".join(code(name) for name, of in TABLES.items() if of.swept)
    always = TABLES["runs"].columns
    names = [name for name in parameters() if name not in always]
    rows = (_row(COLUMNS[name]) for name in names)
    told = f"A parameter that a plan names, or varies, is a column of {swept}, too."
    return f"## Parameters\n\n{told}\n\n{table(HEADS, rows)}"


def _rows(of: Table, names: list[str]) -> str:
    """The columns, each as the table itself has it, if it does."""
    own = {one.name: one for one in (*of.keys, *of.own) if isinstance(one, Column)}
    return table(HEADS, (_row(COLUMNS[name], own.get(name)) for name in names))


def _row(column: Column, own: Column | None = None) -> tuple[str, ...]:
    limits = f", {column.check}" if column.check != "any" else ""
    heading = column.heading()
    shown = f" Shown as *{prose(heading)}*." if heading != column.name else ""
    meaning = prose((own or column).meaning) + shown
    return code(column.name), f"{column.dtype}{limits}", column.unit, meaning

"""The definition of a table of results."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from mqperf.plan.columns.column import Column
from mqperf.plan.columns.parameters import parameters
from mqperf.plan.columns.runs import KEY_COLUMNS


@dataclass(frozen=True, slots=True)
class Table:
    """One table: what a row is, and the columns that it always has, in order.

    The ``own`` columns follow the ``keys``; a mere name refers to a column of another table, or to
    a parameter.  Columns of one name have the same type and unit in all tables, but each table may
    define their meaning.  A ``swept`` table also has all further parameters for which its rows have
    values.  ``rows`` returns the rows of a whole run, or a frame of them, from what was read of it
    (the ``Reading`` of ``study.tables``); mqperf itself fills tables without it.  ``computed`` of a
    package's table returns it from all other tables, mqperf's computed ones included.  A table with
    rows for single seconds (``by_second``) is not held in memory as a whole for many runs.  One
    over several folders (``of_folders``) belongs to no single run or folder.  ``former`` is its
    name in folders that were published earlier.
    """

    name: str
    row: str
    own: tuple[Column | str, ...]
    keys: tuple[Column, ...] = KEY_COLUMNS
    rows: Callable[[Any], Any] | None = None
    computed: Callable[[Any], Any] | None = None
    swept: bool = False
    by_second: bool = False
    former: str = ""
    of_folders: bool = False
    columns: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Set the names of the columns."""
        names = (
            column if isinstance(column, str) else column.name for column in (*self.keys, *self.own)
        )
        object.__setattr__(self, "columns", tuple(names))

    def with_parameters(self, given: Iterable[str]) -> tuple[str, ...]:
        """Return the columns, and for a swept table those parameters that are in ``given``."""
        further = {*given} - {*self.columns} if self.swept else ()
        return (*self.columns, *(name for name in parameters() if name in further))

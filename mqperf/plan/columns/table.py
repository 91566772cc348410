"""What a table of results is."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from mqperf.plan.columns.column import Column
from mqperf.plan.columns.parameters import parameters
from mqperf.plan.columns.runs import KEY_COLUMNS


@dataclass(frozen=True, slots=True)
class Table:
    """One table: what a row is, and the columns that it always has, in order.

    ``own`` follow the ``keys``; one that only has a name is a column of another table, or a
    parameter.  Columns of one name have one type and unit wherever they are, but each table says
    what they mean in it.  A ``swept`` table has further parameters as well, those for which its
    rows have values.  ``rows`` makes those of a whole run, or a frame of them, out of what is read
    of it (the ``Reading`` of ``study.tables``); tables without are filled by mqperf itself.  One
    of a package that is ``computed`` is made of all tables, mqperf's computed ones among them.  One
    that has rows of single seconds (``by_second``) is never held whole where runs are many.  Those
    of many folders (``of_folders``) are none of a run, nor of a folder.
    ``former`` is what it was called in folders that were published before.
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
        """Name the columns."""
        named = (
            column if isinstance(column, str) else column.name for column in (*self.keys, *self.own)
        )
        object.__setattr__(self, "columns", tuple(named))

    def with_parameters(self, given: Iterable[str]) -> tuple[str, ...]:
        """The columns of such a table, when rows are given with these."""
        others = {*given} - {*self.columns} if self.swept else ()
        return (*self.columns, *(name for name in parameters() if name in others))

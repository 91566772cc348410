"""The shape of every table: the columns, types and checks that ``columns`` promises."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, wraps
from typing import Any

import numpy as np
import pandas as pd
from typing_extensions import override

from mqperf.base.errors import TableError
from mqperf.base.one_line import LONGEST_NAME, NAME, one_line
from mqperf.plan.columns import COLUMNS, TABLES, Check
from mqperf.plan.test_cases import TEST_CASES
from mqperf.study.tables.places import in_place

Tables = Mapping[str, pd.DataFrame]
"""Frames by the names of ``columns.TABLES``."""

MEANT: Mapping[Check, str] = {
    "name": f"a name of at most {LONGEST_NAME} letters, digits, '.', '_' and '-', as folders have"
}
"""Check -> its requirement in words, where that differs from its name."""

AXES = ("system", "topology", "queues", "test_case", "threads", "repeat")
"""The columns that give the position of a row in a sweep, outermost first."""


python_strings = pd.option_context("mode.string_storage", "python")
"""Decorates what makes many short frames: with Arrow's strings it takes a fifth longer."""


def empty(name: str) -> pd.DataFrame:
    """The table without rows."""
    return _empty(name).copy()


@cache
def _empty(name: str) -> pd.DataFrame:
    return conform(name, pd.DataFrame())


@python_strings
def conform(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    """The frame as registered: all columns of the table, in order, with their types, checked.

    Missing columns are added empty; a swept table keeps those of further parameters.  Raises
    ``TableError`` for an unregistered column, or a value that the column's check forbids.
    """
    expected = TABLES[name].with_parameters(frame.columns)
    unknown = [column for column in frame.columns if column not in expected]
    if unknown:
        raise TableError(f"table {name}: unknown column {unknown[0]!r}")
    complete = frame.reindex(columns=list(expected)).reset_index(drop=True)
    try:
        typed = complete.astype(_type_changes(complete))
    except (ValueError, TypeError, OverflowError) as error:
        raise TableError(f"table {name}: {error}") from None
    if len(typed):
        for column in expected:
            _check(name, typed, column)
    return typed


def shaped(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    """The columns of a frame that the table has, parameters included, as ``conform`` gives them."""
    columns = TABLES[name].with_parameters(frame.columns)
    return conform(name, frame[[column for column in columns if column in frame.columns]])


def _type_changes(frame: pd.DataFrame) -> dict[str, Any]:
    """The registered types of the columns that have another type."""
    registered = {column: _type(COLUMNS[column].dtype) for column in frame.columns}
    types = zip(registered.items(), frame.dtypes, strict=True)
    return {column: dtype for (column, dtype), actual in types if actual != dtype}


@cache
def _type(name: str) -> Any:  # noqa: ANN401 (pandas has no name for all of its types)
    """A pandas dtype; strings are Python's, since Arrow takes a third longer for short tables."""
    return pd.StringDtype("python") if name == "string" else pd.api.types.pandas_dtype(name)


class Selection(Mapping[str, pd.DataFrame]):
    """Selected rows of every table; a table is filtered on first access, as few are needed.

    ``computed`` has what functions marked ``once`` computed of it.
    """

    def __init__(
        self, tables: Tables, choose: Callable[[pd.DataFrame], pd.DataFrame] = lambda frame: frame
    ) -> None:
        """``choose`` selects the rows of a table: all, unless given."""
        self._tables, self._choose = tables, choose
        self._chosen: dict[str, pd.DataFrame] = {}
        self.computed: dict[Computation, pd.DataFrame] = {}

    @override
    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self._chosen:
            self._chosen[name] = self._choose(self._tables[name])
        return self._chosen[name]

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    @override
    def __len__(self) -> int:
        return len(self._tables)


Computation = Callable[[Tables], pd.DataFrame]


def once(compute: Computation) -> Computation:
    """Compute a frame only once of a ``Selection``: many rules start from the same one."""

    @wraps(compute)
    def computed(tables: Tables) -> pd.DataFrame:
        if not isinstance(tables, Selection):
            return compute(tables)
        if compute not in tables.computed:
            tables.computed[compute] = compute(tables)
        return tables.computed[compute]

    return computed


def select(tables: Tables, **axes: str | int) -> Tables:
    """The rows of every table with these column values: ``select(tables, threads=10)``."""
    return Selection(tables, lambda frame: where(frame, **axes).reset_index(drop=True))


def where(frame: pd.DataFrame, **values: str | int) -> pd.DataFrame:
    """The rows of a frame with these column values: of a layout, a test case, a sweep."""
    if frame.empty:
        return frame.copy(deep=False)
    equal = (frame[name].eq(value).fillna(value=False) for name, value in values.items())
    rows = np.logical_and.reduce([mask.to_numpy(dtype=bool) for mask in equal])
    return frame.copy(deep=False) if rows.all() else frame[rows]  # avoids copying columns


def of_points(tables: Tables, points: Iterable[object]) -> Tables:
    """The rows of these points; tables without a column ``point`` stay as they are."""
    kept = {*points}
    return Selection(
        tables,
        lambda frame: frame[frame["point"].isin(kept)] if "point" in frame.columns else frame,
    )


def completed(runs: pd.DataFrame) -> pd.DataFrame:
    """The rows of runs with figures: measured to the end, or published."""
    return runs[runs["status"].isin(["done", "published"])]


def outside_plan(tables: Tables) -> pd.DataFrame:
    """The rows of ``runs`` at points that the folder's plan does not contain.

    No rows if the plan is unknown; attempts that failed before they had a point are left out.
    """
    runs, planned = tables["runs"], tables.get("planned")
    if planned is None or planned.empty:
        return runs.iloc[:0]
    return runs[runs["point"].notna() & ~runs["point"].isin(planned["point"])]


def of_plan(tables: Tables) -> Tables:
    """The tables without the points that the folder's plan does not contain.

    Doubts, which report those points, are kept.
    """
    if outside_plan(tables).empty:
        return tables
    planned = tables["planned"]["point"]
    return {
        name: frame[frame["point"].isna() | frame["point"].isin(planned)]
        if "point" in frame.columns and name != "doubts"
        else frame
        for name, frame in tables.items()
    }


def in_order(frame: pd.DataFrame, *last: str) -> pd.DataFrame:
    """The rows sorted by system, topology, queues, test case, threads, repeat; then by ``last``.

    The order of test cases is that of ``TEST_CASES``.
    """
    if frame.empty:
        return frame.reset_index(drop=True)
    axes = [*(name for name in AXES if name in frame.columns), *last]
    return frame.sort_values(axes, key=_rank, kind="stable", ignore_index=True)


def _rank(values: pd.Series) -> pd.Series:
    if values.name != "test_case":
        return in_place(values)
    return values.map({name: rank for rank, name in enumerate(TEST_CASES)})


def _check(table: str, frame: pd.DataFrame, column: str) -> None:
    check = COLUMNS[column].check
    if check == "any":
        return
    wrong = _wrong(frame[column], check).fillna(value=False)
    if wrong.any():
        row = frame[wrong].iloc[0]
        position = f"row {wrong.to_numpy().argmax() + 1}"
        position += f" ({', '.join(identity)})" if (identity := [*_identity(row)]) else ""
        raise TableError(
            f"table {table}, {position}: {column} must be {MEANT.get(check, check)},"
            f" got {_quoted(row[column])}"
        )


def _identity(row: pd.Series) -> Iterator[str]:
    """Yield what identifies a row, as ``column value``: its run, subject and time."""
    for name in ("run", "host", "node", "process", "stream", "step", "start_s", "time_s"):
        if name in row and pd.notna(row[name]):
            unit = " s" if name in {"start_s", "time_s"} else ""
            yield f"{name.removesuffix('_s')} {_quoted(row[name])}{unit}"


def _wrong(values: pd.Series, check: Check) -> pd.Series:
    """A mask of the values that the check forbids."""
    if check == "name":
        names = values.dropna().unique()
        invalid = [name for name in names if len(name) > LONGEST_NAME or not NAME.fullmatch(name)]
        return values.isin(invalid)
    return values < 0 if check == "not negative" else values <= 0


def _quoted(value: object) -> str:
    return repr(one_line(value, 80)) if isinstance(value, str) else str(value)

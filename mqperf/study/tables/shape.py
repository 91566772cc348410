"""The shape of every table: the columns, types and checks that ``columns`` promises."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
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
"""What a check asks for, where its name does not say it."""

AXES = ("system", "topology", "queues", "test_case", "threads", "repeat")
"""The columns that say where in a sweep a row belongs, outermost first."""


def empty(name: str) -> pd.DataFrame:
    """The table without rows."""
    return _empty(name).copy()


@cache
def _empty(name: str) -> pd.DataFrame:
    return conform(name, pd.DataFrame())


def conform(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    """The frame as the register has it: all columns, in order, of their types, values checked.

    Missing columns are added empty; a swept table keeps those of further parameters.  Raises
    ``TableError`` for a column the register does not know or a value that the column's check
    forbids.
    """
    expected = TABLES[name].with_parameters(frame.columns)
    unknown = [column for column in frame.columns if column not in expected]
    if unknown:
        raise TableError(f"table {name}: unknown column {unknown[0]!r}")
    shaped = frame.reindex(columns=list(expected)).reset_index(drop=True)
    try:
        typed = shaped.astype(_other_types(shaped))
    except (ValueError, TypeError, OverflowError) as error:
        raise TableError(f"table {name}: {error}") from None
    if len(typed):
        for column in expected:
            _check(name, typed, column)
    return typed


def shaped(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    """The same of those columns of a frame that the table has, parameters among them."""
    columns = TABLES[name].with_parameters(frame.columns)
    return conform(name, frame[[column for column in columns if column in frame.columns]])


def _other_types(frame: pd.DataFrame) -> dict[str, Any]:
    """The types of the columns that have another one than the register asks for."""
    asked = {column: _type(COLUMNS[column].dtype) for column in frame.columns}
    types = zip(asked.items(), frame.dtypes, strict=True)
    return {column: wanted for (column, wanted), actual in types if actual != wanted}


@cache
def _type(name: str) -> Any:  # noqa: ANN401 (pandas has no name for all of its types)
    """A column's type; texts are Python's, since for short tables Arrow takes a third longer."""
    return pd.StringDtype("python") if name == "string" else pd.api.types.pandas_dtype(name)


class Selection(Mapping[str, pd.DataFrame]):
    """Rows of every table, which are selected when a table is first asked for: most need few."""

    def __init__(self, tables: Tables, choose: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
        """``choose`` gives the rows of a table."""
        self._tables, self._choose = tables, choose
        self._chosen: dict[str, pd.DataFrame] = {}

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


def select(tables: Tables, **axes: str | int) -> Tables:
    """The rows of every table with these values: ``select(tables, threads=10)``."""
    return Selection(tables, lambda frame: where(frame, **axes).reset_index(drop=True))


def where(frame: pd.DataFrame, **values: str | int) -> pd.DataFrame:
    """The rows of a frame with these values: of a layout, a test case, a sweep."""
    if frame.empty:
        return frame.copy(deep=False)
    equal = (frame[name].eq(value).fillna(value=False) for name, value in values.items())
    rows = np.logical_and.reduce([part.to_numpy(dtype=bool) for part in equal])
    return frame.copy(deep=False) if rows.all() else frame[rows]  # copies of columns take longest


def of_points(tables: Tables, points: Iterable[object]) -> Tables:
    """The rows of these points alone; tables that are not about points stay as they are."""
    kept = {*points}
    return Selection(
        tables,
        lambda frame: frame[frame["point"].isin(kept)] if "point" in frame.columns else frame,
    )


def completed(runs: pd.DataFrame) -> pd.DataFrame:
    """The rows of those runs that gave figures: measured to the end, or published."""
    return runs[runs["status"].isin(["done", "published"])]


def outside_plan(tables: Tables) -> pd.DataFrame:
    """The rows of ``runs`` at points that the folder's plan does not ask for.

    None where the plan is not known; an attempt that died before it knew its point has none.
    """
    runs, planned = tables["runs"], tables.get("planned")
    if planned is None or planned.empty:
        return runs.iloc[:0]
    return runs[runs["point"].notna() & ~runs["point"].isin(planned["point"])]


def of_plan(tables: Tables) -> Tables:
    """The tables without the points that the folder's plan does not ask for.

    Doubts, which name those points, are kept.
    """
    planned = tables.get("planned")
    if planned is None or planned.empty:
        return tables
    return {
        name: frame[frame["point"].isna() | frame["point"].isin(planned["point"])]
        if "point" in frame.columns and name != "doubts"
        else frame
        for name, frame in tables.items()
    }


def in_order(frame: pd.DataFrame, *last: str) -> pd.DataFrame:
    """The rows by system, topology, queues, test case (as a plan has them), threads, repeat.

    Then by the ``last`` columns.
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
        place = f"row {wrong.to_numpy().argmax() + 1}"
        place += f" ({', '.join(identity)})" if (identity := [*_known(row)]) else ""
        raise TableError(
            f"table {table}, {place}: {column} must be {MEANT.get(check, check)},"
            f" got {_quoted(row[column])}"
        )


def _known(row: pd.Series) -> Iterator[str]:
    """What tells a row from others: its run, whom it is about, and when."""
    for name in ("run", "host", "node", "process", "stream", "step", "start_s", "time_s"):
        if name in row and pd.notna(row[name]):
            unit = " s" if name in {"start_s", "time_s"} else ""
            yield f"{name.removesuffix('_s')} {_quoted(row[name])}{unit}"


def _wrong(values: pd.Series, check: Check) -> pd.Series:
    """Which values the check forbids."""
    if check == "name":
        names = values.dropna().unique()
        unfit = [name for name in names if len(name) > LONGEST_NAME or not NAME.fullmatch(name)]
        return values.isin(unfit)
    return values < 0 if check == "not negative" else values <= 0


def _quoted(value: object) -> str:
    return repr(one_line(value, 80)) if isinstance(value, str) else str(value)

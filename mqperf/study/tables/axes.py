"""Axes: the parameters that distinguish the points of a sweep, and their arrangement in figures.

The number of threads is always an axis; the others are parameters of which a sweep has several
values (``columns.parameters``).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray

from mqperf.plan.columns import COLUMNS, TABLES, parameters
from mqperf.study.tables.axis_words import at
from mqperf.study.tables.places import GENERATOR, NAMED, in_place

if TYPE_CHECKING:
    from pandas.api.typing import DataFrameGroupBy

LAYOUT = ("system", "topology", "queues")
"""Columns that identify a layout."""

SWEEP = (*LAYOUT, "test_case")
"""Columns that identify a sweep: all its points have the same values."""

FACTORS = ("green_threads", "processes", "hosts")
"""The number of threads is the product of these."""

ON_X: ContextVar[str] = ContextVar("ON_X", default="")
"""The axis that the user asks for on x; used there if it is a number that varies."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The axes of a sweep: that with the most values on x, the next as colour, and the rest."""

    x: str
    colour: str | None = None
    rest: tuple[str, ...] = ()

    @property
    def beside_x(self) -> tuple[str, ...]:
        """All axes but the one on x."""
        return self.rest if self.colour is None else (self.colour, *self.rest)

    @property
    def names(self) -> tuple[str, ...]:
        """All axes, that on x first."""
        return (self.x, *self.beside_x)


def varied(rows: pd.DataFrame) -> tuple[str, ...]:
    """The parameters other than the number of threads that distinguish points of a sweep.

    ``rows`` are of points or runs, with their parameters.  Processes and hosts are factors of the
    number of threads: they count only where that alone does not distinguish the points.
    """
    if len(rows) < 2:
        return ()
    keys = [name for name in SWEEP if name in rows.columns]
    columns = _point_columns(rows)
    if _only_threads_vary(columns, keys):
        return ()  # as in most sweeps
    points = pd.DataFrame(columns)
    varying = [
        name
        for name in parameters()
        if name in columns and name not in FACTORS and _values(points, name)[1:]
    ]
    sweeps = points.groupby(keys, dropna=False) if keys else [((), points)]
    distinguishing = {name for _, sweep in sweeps for name in _varied_in(sweep, varying)}
    for name in NAMED:
        distinguishing -= _determined_by(name, points, distinguishing)
    return tuple(name for name in parameters() if name in distinguishing)


def further(*sets: pd.DataFrame) -> list[str]:
    """The parameters that any of these runs state beyond those that every run has."""
    usual = TABLES["runs"].columns
    stated = {name for runs in sets for name in runs.columns if runs[name].notna().any()}
    return [name for name in parameters() if name in stated and name not in usual]


def arranged(rows: pd.DataFrame) -> Arrangement:
    """The axes of the sweeps that are shown together, by descending number of values.

    Threads win ties.  A text, or a parameter that is not always set, is on x only if no number
    varies; generators never are, as no line joins two of them.  The axis of ``ON_X`` comes first.
    """
    counts = {name: len(_values(rows, name)) for name in ("threads", *varied(rows))}
    several = [name for name in counts if counts[name] > 1]
    several.sort(key=lambda name: (name != ON_X.get(), -counts[name]))
    usable = [name for name in several if name != GENERATOR]
    x = next((name for name in usable if _is_number(rows, name)), next(iter(usable), "threads"))
    others = tuple(name for name in several if name != x)
    return Arrangement(x, next(iter(others), None), others[1:])


def split(rows: pd.DataFrame, names: Iterable[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield a label and the rows of each group of values of these columns; one group for none."""
    columns = list(names)
    if not columns:
        yield "", rows
        return
    ordered = rows.sort_values(columns, key=in_place, kind="stable")
    for values, group in ordered.groupby(columns, sort=False, dropna=False):
        yield at(dict(zip(columns, values, strict=True)), columns), group


def curves(rows: pd.DataFrame) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Yield rows of points or runs by curve: within one, each number of threads is one point.

    With each come the parameter values that distinguish it from the other curves of its sweep: none
    for a sweep in which only threads vary, which is one curve.
    """
    for _, sweep in rows.groupby(list(SWEEP), sort=False):
        if names := list(varied(sweep)):
            groups = list(sweep.groupby(names, sort=False, dropna=False))
            for values, curve in groups:
                yield dict(zip(names, values, strict=True)) if len(groups) > 1 else {}, curve
        else:
            yield {}, sweep


def with_parameters(rows: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """The rows with the factors of threads and the varied parameters of their run or point."""
    key = "run" if "run" in rows.columns else "point"
    names = dict.fromkeys((*FACTORS, *varied(runs)))
    missing = [name for name in names if name not in rows.columns]
    of_key = runs.dropna(subset=[key]).groupby(key, sort=False)[missing].first()
    return rows.assign(**{name: rows[key].map(of_key[name]) for name in missing})


def tidy(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows without the parameters and factors that do not distinguish points."""
    kept = {*varied(rows)}
    if kept & {*FACTORS}:
        kept |= {"green_threads", "processes"}
    dropped = [name for name in (*FACTORS, *parameters()) if name not in kept]
    return rows.drop(columns=dropped, errors="ignore")


def in_curves(rows: pd.DataFrame, *last: str) -> pd.DataFrame:
    """The rows sorted curve by curve: by the other axes, then the one on x, then ``last``."""
    axes = arranged(rows)
    order = list(dict.fromkeys((*reversed(axes.beside_x), axes.x, "threads", *last)))
    return rows.sort_values(order, key=in_place, kind="stable").reset_index(drop=True)


def over_repeats(rows: pd.DataFrame, columns: Sequence[str], *by: str) -> pd.DataFrame:
    """The mean of the columns at each point, and for each value of ``by``.

    The result also has the columns that locate a point: sweep, threads, parameters.
    """
    return by_point(rows, *by)[list(columns)].mean()


def by_point(rows: pd.DataFrame, *by: str) -> "DataFrameGroupBy[Any, Any]":
    """The rows grouped by point and the values of ``by``; keys become columns."""
    names = dict.fromkeys((*SWEEP, "threads", *FACTORS, *parameters(), *by))
    keys = ["point", *(name for name in names if name in rows.columns)]
    return rows.groupby(keys, as_index=False, sort=False, dropna=False)


def _point_columns(rows: pd.DataFrame) -> dict[str, ExtensionArray]:
    """The columns that describe a point, with one row per point: its first run.

    Runs that cannot be read come last, as they state the least.
    """
    order, names = np.arange(len(rows)), dict.fromkeys((*SWEEP, "threads", *FACTORS, *parameters()))
    if "processes" in rows.columns:
        order = np.argsort(rows["processes"].isna().to_numpy(), kind="stable")
    points = rows["point"].take(order)
    first = order[(~points.duplicated() & points.notna()).to_numpy()]
    return {name: rows[name].array[first] for name in names if name in rows.columns}


def _only_threads_vary(columns: Mapping[str, ExtensionArray], keys: Sequence[str]) -> bool:
    """Whether only the number of threads, and one factor of it, distinguishes the points.

    Called often, for few points: plain values take a fifth of the time of frames.
    """
    values = {
        name: [None if pd.isna(value) else value for value in column.tolist()]
        for name, column in columns.items()
    }
    several = {name for name in values if len({*values[name]} - {None}) > 1}
    several |= {name for name in parameters() if name in values and _is_partly_set(name, values)}
    keys_and_threads = list(zip(*(values[name] for name in (*keys, "threads")), strict=True))
    return (
        not any(name in several for name in parameters() if name not in FACTORS)
        and len({*keys_and_threads}) == len(keys_and_threads)
        and sum(name in several for name in FACTORS) < 2
    )


def _is_partly_set(name: str, values: Mapping[str, Sequence[object]]) -> bool:
    """Whether some points have a value, and others, whose record is complete, have none."""
    if name in TABLES["runs"].columns or "processes" not in values:
        return False
    pairs = list(zip(values[name], values["processes"], strict=True))
    unset = any(value is None and processes is not None for value, processes in pairs)
    return unset and any(value is not None for value, _ in pairs)


def _varied_in(points: pd.DataFrame, names: Iterable[str]) -> Iterator[str]:
    """Those of these parameters, and of the factors of threads, that vary within one sweep."""
    varying = [name for name in names if len(_values(points, name)) > 1]
    yield from varying
    for factor in ("hosts", "processes"):
        groups = points.groupby(varying, dropna=False) if varying else [((), points)]
        if factor in points.columns and any(_distinguishes(factor, group) for _, group in groups):
            varying.append(factor)
            yield factor


def _distinguishes(factor: str, points: pd.DataFrame) -> bool:
    """Whether this factor distinguishes points with equal threads, or curves.

    5 threads in each of 2 processes and 10 in one are both 10 threads, and two points.  If threads
    per process and processes both vary, a sweep has several curves.  If only one of them varies,
    each number of threads is a point of one curve.
    """
    if factor == "hosts":
        return _has_several(points, "hosts") and (
            _has_several(points, "green_threads") or _has_several(points, "processes")
        )
    both = all(_has_several(points, name) for name in ("green_threads", "processes"))
    return both or not points["threads"].is_unique


def _has_several(points: pd.DataFrame, name: str) -> bool:
    return name in points.columns and len(_distinct(points[name])) > 1


def _determined_by(name: str, points: pd.DataFrame, names: set[str]) -> set[str]:
    """Those of the other parameters that have a single value for each value of this one."""
    if name not in names:
        return set()
    groups = points.groupby(name, dropna=False)
    others = names - {name, *FACTORS}
    most_values = groups[[*others]].nunique(dropna=False).max()
    return {other for other in others if most_values[other] == 1}


def _values(rows: pd.DataFrame, name: str) -> list[object]:
    """The values that occur, with None if runs with a complete record do not set the parameter.

    For a column that every run states, a missing value is unknown, and no value.
    """
    values = _distinct(rows[name])
    if name not in TABLES["runs"].columns and "processes" in rows.columns:
        values += [None] if (rows[name].isna() & rows["processes"].notna()).any() else []
    return values


def _distinct(column: pd.Series) -> list[object]:
    """The distinct values of a column, without missing ones."""
    return [value for value in column.unique() if not pd.isna(value)]


def _is_number(rows: pd.DataFrame, name: str) -> bool:
    return COLUMNS[name].dtype != "string" and None not in _values(rows, name)

"""Axes: what tells the points of a sweep apart, and how that is arranged in figures.

The number of threads is always one of them; the others are parameters of which a sweep has several
values (``columns.parameters``).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray

from mqperf.plan.columns import COLUMNS, TABLES, parameters
from mqperf.study.tables.axis_words import at
from mqperf.study.tables.places import GENERATOR, NAMED, in_place

LAYOUT = ("system", "topology", "queues")
"""What tells layouts apart."""

SWEEP = (*LAYOUT, "test_case")
"""What the points of one sweep have in common."""

FACTORS = ("green_threads", "processes", "hosts")
"""Of which the number of threads is the product."""

ON_X: ContextVar[str] = ContextVar("ON_X", default="")
"""The axis that a reader wants on x; it gets there where it is a number that varies."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The axes of a sweep: on x that with the most values, the next as colour, and the rest."""

    x: str
    colour: str | None = None
    rest: tuple[str, ...] = ()

    @property
    def beside_x(self) -> tuple[str, ...]:
        """All but the one on x."""
        return self.rest if self.colour is None else (self.colour, *self.rest)

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, that on x first."""
        return (self.x, *self.beside_x)


def varied(rows: pd.DataFrame) -> tuple[str, ...]:
    """The parameters that tell points of a sweep apart beside the number of threads.

    ``rows`` are of points or runs, with their parameters.  Processes and hosts are factors of the
    number of threads: they count only where that does not tell the points apart.
    """
    if len(rows) < 2:
        return ()
    keys = [name for name in SWEEP if name in rows.columns]
    columns = _points(rows)
    if _threads_tell_apart(columns, keys):
        return ()  # as in most sweeps
    points = pd.DataFrame(columns)
    varying = [
        name
        for name in parameters()
        if name in columns and name not in FACTORS and _values(points, name)[1:]
    ]
    sweeps = points.groupby(keys, dropna=False) if keys else [((), points)]
    telling = {name for _, sweep in sweeps for name in _of_sweep(sweep, varying)}
    for name in NAMED:
        telling -= _told_by(name, points, telling)
    return tuple(name for name in parameters() if name in telling)


def further(*sets: pd.DataFrame) -> list[str]:
    """The parameters that any of these runs tell beyond those that all runs have."""
    usual = TABLES["runs"].columns
    stated = {name for runs in sets for name in runs.columns if runs[name].notna().any()}
    return [name for name in parameters() if name in stated and name not in usual]


def arranged(rows: pd.DataFrame) -> Arrangement:
    """The axes of the sweeps that are shown together, by their number of values.

    Threads come first where others have as many.  A text, or a parameter that is not always set,
    is on x only where no number varies; generators never are, as no line joins two of them.
    Before all others comes the axis of ``ON_X``.
    """
    counts = {name: len(_values(rows, name)) for name in ("threads", *varied(rows))}
    several = [name for name in counts if counts[name] > 1]
    several.sort(key=lambda name: (name != ON_X.get(), -counts[name]))
    joined = [name for name in several if name != GENERATOR]
    x = next((name for name in joined if _is_number(rows, name)), next(iter(joined), "threads"))
    others = tuple(name for name in several if name != x)
    return Arrangement(x, next(iter(others), None), others[1:])


def split(rows: pd.DataFrame, names: Iterable[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows by the values of these columns, each part with its words; all of them for none."""
    columns = list(names)
    if not columns:
        yield "", rows
        return
    ordered = rows.sort_values(columns, key=in_place, kind="stable")
    for values, part in ordered.groupby(columns, sort=False, dropna=False):
        yield at(dict(zip(columns, values, strict=True)), columns), part


def curves(rows: pd.DataFrame) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Rows of points or runs as curves, in which a number of threads belongs to one point.

    Each with the values of the parameters that tell it from others of its sweep; a sweep in which
    only threads vary is one curve, and has none.
    """
    for _, sweep in rows.groupby(list(SWEEP), sort=False):
        if names := list(varied(sweep)):
            parts = list(sweep.groupby(names, sort=False, dropna=False))
            for values, curve in parts:
                yield dict(zip(names, values, strict=True)) if len(parts) > 1 else {}, curve
        else:
            yield {}, sweep


def with_parameters(rows: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """The rows with the factors of threads, and all that varies, as their run or point has it."""
    key = "run" if "run" in rows.columns else "point"
    names = dict.fromkeys((*FACTORS, *varied(runs)))
    missing = [name for name in names if name not in rows.columns]
    of_key = runs.dropna(subset=[key]).groupby(key, sort=False)[missing].first()
    return rows.assign(**{name: rows[key].map(of_key[name]) for name in missing})


def tidy(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows for others to read: without the parameters and factors that tell nothing apart."""
    kept = {*varied(rows)}
    if kept & {*FACTORS}:
        kept |= {"green_threads", "processes"}
    others = [name for name in (*FACTORS, *parameters()) if name not in kept]
    return rows.drop(columns=others, errors="ignore")


def in_curves(rows: pd.DataFrame, *last: str) -> pd.DataFrame:
    """The rows curve after curve: by the other axes, then by that on x, then by these columns."""
    axes = arranged(rows)
    order = list(dict.fromkeys((*reversed(axes.beside_x), axes.x, "threads", *last)))
    return rows.sort_values(order, key=in_place, kind="stable").reset_index(drop=True)


def _points(rows: pd.DataFrame) -> dict[str, ExtensionArray]:
    """Columns with one row per point, of those that tell of it.

    A run that cannot be read tells the least.
    """
    order, names = np.arange(len(rows)), dict.fromkeys((*SWEEP, "threads", *FACTORS, *parameters()))
    if "processes" in rows.columns:
        order = np.argsort(rows["processes"].isna().to_numpy(), kind="stable")
    point = rows["point"].take(order)
    first = order[(~point.duplicated() & point.notna()).to_numpy()]
    return {name: rows[name].array[first] for name in names if name in rows.columns}


def _threads_tell_apart(columns: Mapping[str, ExtensionArray], keys: Sequence[str]) -> bool:
    """Whether nothing but the number of threads, and one factor of it, tells the points apart.

    Pages ask often, of few points: plain values answer in a fifth of the time of frames.
    """
    values = {
        name: [None if pd.isna(value) else value for value in column.tolist()]
        for name, column in columns.items()
    }
    several = {name for name in values if len({*values[name]} - {None}) > 1}
    several |= {name for name in parameters() if name in values and _leaves_open(name, values)}
    places = list(zip(*(values[name] for name in (*keys, "threads")), strict=True))
    return (
        not any(name in several for name in parameters() if name not in FACTORS)
        and len({*places}) == len(places)
        and sum(name in several for name in FACTORS) < 2
    )


def _leaves_open(name: str, values: Mapping[str, Sequence[object]]) -> bool:
    """Whether some points have a value that others, whose record is whole, do not have."""
    if name in TABLES["runs"].columns or "processes" not in values:
        return False
    pairs = list(zip(values[name], values["processes"], strict=True))
    unset = any(value is None and processes is not None for value, processes in pairs)
    return unset and any(value is not None for value, _ in pairs)


def _of_sweep(points: pd.DataFrame, names: Iterable[str]) -> Iterator[str]:
    """What tells the points of one sweep apart; of these names, and of the factors of threads."""
    telling = [name for name in names if len(_values(points, name)) > 1]
    yield from telling
    for factor in ("hosts", "processes"):
        groups = points.groupby(telling, dropna=False) if telling else [((), points)]
        if factor in points.columns and any(_needed(factor, group) for _, group in groups):
            telling.append(factor)
            yield factor


def _needed(factor: str, points: pd.DataFrame) -> bool:
    """Whether points of as many threads, or curves, differ by this factor.

    5 threads in each of 2 processes and 10 in one are both 10 threads, and two points.  So are
    curves of a sweep in which threads of a process and processes vary both.  Where only one of
    them varies, each number of threads is a point of one curve.
    """
    if factor == "hosts":
        return _several(points, "hosts") and (
            _several(points, "green_threads") or _several(points, "processes")
        )
    both = all(_several(points, name) for name in ("green_threads", "processes"))
    return both or not points["threads"].is_unique


def _several(points: pd.DataFrame, name: str) -> bool:
    return name in points.columns and len(_known(points[name])) > 1


def _told_by(name: str, points: pd.DataFrame, names: set[str]) -> set[str]:
    """Those of the parameters which have one value for each value of this one: it tells them."""
    if name not in names:
        return set()
    groups = points.groupby(name, dropna=False)
    rest = names - {name, *FACTORS}
    most = groups[[*rest]].nunique(dropna=False).max()
    return {other for other in rest if most[other] == 1}


def _values(rows: pd.DataFrame, name: str) -> list[object]:
    """The values that occur; that of a parameter which is not set is one, if that is known.

    What every run states, a run or report that does not state it leaves open.
    """
    values = _known(rows[name])
    if name not in TABLES["runs"].columns and "processes" in rows.columns:
        values += [None] if (rows[name].isna() & rows["processes"].notna()).any() else []
    return values


def _known(column: pd.Series) -> list[object]:
    """Every value that a column has, once."""
    return [value for value in column.unique() if not pd.isna(value)]


def _is_number(rows: pd.DataFrame, name: str) -> bool:
    return COLUMNS[name].dtype != "string" and None not in _values(rows, name)

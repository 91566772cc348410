"""Axes: what tells the points of a sweep apart, how that is arranged in figures, and its words.

The number of threads is always one of them; the others are parameters of which a sweep has several
values (``columns.parameters``).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from mqperf.columns import COLUMNS, TABLES, parameters

SWEEP = ("system", "topology", "queues", "test_case")
"""What the points of one sweep have in common."""

FACTORS = ("green_threads", "processes", "hosts")
"""Of which the number of threads is the product."""

COUNTED = {
    "threads": ("thread", "threads"),
    "processes": ("client process", "client processes"),
    "hosts": ("client host", "client hosts"),
}
"""Axes that count something: what one of it is called, and several."""

Value = str | float | None
"""What a parameter may be."""


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
    points, keys = _points(rows), [name for name in SWEEP if name in rows.columns]
    present = [name for name in parameters() if name in rows.columns and _values(points, name)[1:]]
    others = [name for name in present if name not in FACTORS]
    same = not points.duplicated([*keys, "threads"]).any()
    if not others and same and sum(_several(points, name) for name in FACTORS) < 2:
        return ()  # as in most sweeps
    found: set[str] = set()
    for _, sweep in points.groupby(keys, dropna=False) if keys else [((), points)]:
        found |= {*_of_sweep(sweep, others)}
    return tuple(name for name in parameters() if name in found)


def further(*sets: pd.DataFrame) -> list[str]:
    """The parameters that any of these runs tell beyond those that all runs have."""
    usual = TABLES["runs"].columns
    stated = {name for runs in sets for name in runs.columns if runs[name].notna().any()}
    return [name for name in parameters() if name in stated and name not in usual]


def arranged(rows: pd.DataFrame) -> Arrangement:
    """The axes of the sweeps that are shown together, by their number of values.

    Threads come first where others have as many.  A text, or a parameter that is not always set,
    is on x only where no number varies.
    """
    counts = {name: len(_values(rows, name)) for name in ("threads", *varied(rows))}
    several = [name for name in counts if counts[name] > 1]
    several.sort(key=lambda name: -counts[name])
    x = next((name for name in several if _is_number(rows, name)), next(iter(several), "threads"))
    others = tuple(name for name in several if name != x)
    return Arrangement(x, next(iter(others), None), others[1:])


def split(rows: pd.DataFrame, names: Iterable[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows by the values of these columns, each part with its words; all of them for none."""
    columns = list(names)
    if not columns:
        yield "", rows
        return
    for values, part in rows.groupby(columns, dropna=False):
        yield at(dict(zip(columns, values, strict=True)), columns), part


def curves(rows: pd.DataFrame) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Rows of points or runs as curves, in which a number of threads belongs to one point.

    Each with the values of the parameters that tell it from others of its sweep; a sweep in which
    only threads vary is one curve, and has none.
    """
    for _, sweep in rows.groupby(list(SWEEP), sort=False):
        if names := list(varied(sweep)):
            parts = list(sweep.groupby(names, sort=False, dropna=False))
            for values, own in parts:
                yield dict(zip(names, values, strict=True)) if len(parts) > 1 else {}, own
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
    return rows.drop(
        columns=[
            name for name in (*FACTORS, *parameters()) if name in rows.columns and name not in kept
        ],
        errors="ignore",
    )


def in_curves(rows: pd.DataFrame, *last: str) -> pd.DataFrame:
    """The rows curve after curve: by the other axes, then by that on x, then by these columns."""
    axes = arranged(rows)
    order = list(dict.fromkeys((*reversed(axes.beside_x), axes.x, "threads", *last)))
    return rows.sort_values(order, kind="stable").reset_index(drop=True)


def at(row: Mapping[Any, Any], names: Iterable[str]) -> str:
    """Where a row is, in words: ``10 threads, payload 1024 bytes``."""
    return ", ".join(worded(name, row[name]) for name in names)


def worded(name: str, value: Value) -> str:
    """A value of an axis in words: ``2 client processes``, ``payload 65536 bytes``."""
    column = COLUMNS[name]
    if name in COUNTED:
        one, many = COUNTED[name]
        return f"{many} unknown" if pd.isna(value) else f"{value} {one if value == 1 else many}"
    label = column.label or column.name
    if pd.isna(value):
        return f"{label} not set"
    return " ".join(filter(None, [label, shown_value(name, value), column.shown or column.unit]))


def called(name: str) -> str:
    """What an axis is called in a sentence: ``thread count``, ``payload``."""
    if name in COUNTED:
        return f"{COUNTED[name][0]} count"
    return COLUMNS[name].label or name


def titled(name: str) -> str:
    """What a column of runs is called in a list of what they had: ``client hosts``, ``warm-up``."""
    return COUNTED[name][1] if name in COUNTED else COLUMNS[name].label or name


def headed(name: str) -> str:
    """The same with the unit of its values: ``warm-up, s``."""
    column = COLUMNS[name]
    return ", ".join(filter(None, [titled(name), column.shown or column.unit]))


def occurring(name: str, rows: pd.DataFrame) -> str:
    """What an axis is called, and its values: ``payload (1024, 65536 bytes)``."""
    known = ", ".join(shown_values(name, rows))
    column = COLUMNS[name]
    unit = column.shown or column.unit
    return f"{called(name)} ({known}{f' {unit}' if unit else ''})"


def shown_values(name: str, rows: pd.DataFrame) -> list[str]:
    """Every value that rows have of a parameter, in order; none where they do not tell it."""
    if name not in rows.columns:
        return []
    return [shown_value(name, value) for value in sorted(rows[name].dropna().unique())]


def shown_value(name: str, value: str | float) -> str:
    """A value of a column as a person reads it, without its unit."""
    return value if isinstance(value, str) else f"{value * COLUMNS[name].scale:.10g}"


def _points(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per point, of those that tell of it: a run that cannot be read tells the least."""
    names = dict.fromkeys((*SWEEP, "point", "threads", *FACTORS, *parameters()))
    if "processes" in rows.columns and (unknown := rows["processes"].isna()).any():
        rows = pd.concat([rows[~unknown], rows[unknown]])
    # pages ask often: columns are taken of the few rows, not rows of all columns
    first = np.flatnonzero(~rows["point"].duplicated() & rows["point"].notna())
    return rows[[name for name in names if name in rows.columns]].take(first)


def _of_sweep(points: pd.DataFrame, names: Iterable[str]) -> Iterator[str]:
    """What tells the points of one sweep apart; of these names, and of the factors of threads."""
    others = [name for name in names if len(_values(points, name)) > 1]
    yield from others
    for factor in ("hosts", "processes"):
        groups = points.groupby(others, dropna=False) if others else [((), points)]
        if factor in points.columns and any(_needed(factor, group) for _, group in groups):
            others.append(factor)
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

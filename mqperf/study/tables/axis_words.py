"""Axes and their values in words: for headings, sentences, and positions in a sweep."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from mqperf.plan.columns import COLUMNS
from mqperf.plan.load import GENERATORS
from mqperf.plan.pace import RATE
from mqperf.study.tables.places import GENERATOR, in_place

COUNTED = {
    "threads": ("thread", "threads"),
    "processes": ("client process", "client processes"),
    "hosts": ("client host", "client hosts"),
}
"""Axes that count something -> singular and plural of what they count."""

Value = str | float | None
"""Possible types of a parameter's value."""


def at(row: Mapping[Any, Any], names: Iterable[str]) -> str:
    """The position of a row on these axes, in words: ``10 threads, payload 1024 bytes``."""
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
    if name == GENERATOR and value in GENERATORS:
        return GENERATORS[str(value)].protocol or str(value)
    return " ".join(filter(None, [label, shown_value(name, value), column.shown or column.unit]))


def called(name: str) -> str:
    """The name of an axis in a sentence: ``thread count``, ``payload``."""
    if name in COUNTED:
        return f"{COUNTED[name][0]} count"
    return COLUMNS[name].label or name


def titled(name: str) -> str:
    """The name of a column in a list of the properties of runs: ``client hosts``, ``warm-up``."""
    return COUNTED[name][1] if name in COUNTED else COLUMNS[name].label or name


def headed(name: str) -> str:
    """The name of a column with the unit of its values: ``warm-up, s``."""
    column = COLUMNS[name]
    return ", ".join(filter(None, [titled(name), column.shown or column.unit]))


def occurring(name: str, rows: pd.DataFrame) -> str:
    """The name of an axis with its values: ``payload (1024, 65536 bytes)``."""
    values = ", ".join(shown_values(name, rows))
    column = COLUMNS[name]
    unit = column.shown or column.unit
    return f"{called(name)} ({values}{f' {unit}' if unit else ''})"


def shown_values(name: str, rows: pd.DataFrame) -> list[str]:
    """The distinct values of a parameter, in order; none if the rows lack its column."""
    if name not in rows.columns:
        return []
    return [
        shown_value(name, value) for value in rows[name].dropna().sort_values(key=in_place).unique()
    ]


def texts(column: pd.Series) -> list[str]:
    """The distinct values of a column as text, in the order of its rows."""
    values = column.dropna().unique()
    return [f"{value:g}" if isinstance(value, float) else str(value) for value in values]


def days(runs: pd.DataFrame) -> str:
    """The day on which the runs began, or the first and the last; empty if none is known."""
    began = runs["started"].dropna().dt.strftime("%Y-%m-%d")
    return " to ".join(dict.fromkeys([began.min(), began.max()])) if len(began) else ""


def shown_rate(rate: float) -> str:
    """A rate of a plan, or a mean of rates, as text: without decimals from 100 a second on."""
    return shown_value(RATE, float(round(rate)) if rate >= 100 else round(rate, 2))


def shown_value(name: str, value: str | float) -> str:
    """A value of a column as text, in its displayed unit, without that unit."""
    return value if isinstance(value, str) else f"{value * COLUMNS[name].scale:.10g}"

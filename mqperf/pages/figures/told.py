"""Tooltips of the marks of a drawing, and the series that they belong to."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.artist import Artist

from mqperf.base.one_line import one_line
from mqperf.plan.columns import COLUMNS
from mqperf.study.tables.axes import varied
from mqperf.study.tables.axis_words import at

PREFIX = "told "
"""Prefix of the id of an SVG group that carries series and tooltips."""

CELLS = "heat map"
"""Series of cells shaded by a count: on dark paper the highest counts are the brightest."""


def tell(artist: Artist, series: Sequence[str], texts: Sequence[str] = ()) -> None:
    """Attach to an artist its series, as the legend names them, and a tooltip for each mark.

    Both are stored as the artist's group id, the only custom data that matplotlib writes to SVG.
    """
    lines = ["\n".join(map(one_line, text.splitlines())) for text in texts]
    artist.set_gid(PREFIX + json.dumps([list(series), lines], ensure_ascii=False))


def point_tooltips(rows: pd.DataFrame, column: str, doubted: Collection[str]) -> list[str]:
    """Return a tooltip for each point: its parameters, value with interval, doubts, and name.

    ``doubted`` may map points to the kinds of their doubts.
    """
    names = ("threads", *varied(rows))
    shown = rows.filter([*names, column, f"{column}_low", f"{column}_high", "point"])
    return [_point_tooltip(row, names, column, doubted) for row in shown.to_dict("records")]


def _point_tooltip(
    row: Mapping[Any, Any], names: Sequence[str], column: str, doubted: Collection[str]
) -> str:
    definition = COLUMNS[column]
    unit = definition.shown or definition.unit
    lines = [at(row, names), f"{definition.label} {short(row[column] * definition.scale)} {unit}"]
    low, high = (row.get(f"{column}_{end}") for end in ("low", "high"))
    if pd.notna(low) and pd.notna(high):
        ends = (short(end * definition.scale) for end in (low, high))
        lines.append(f"95 % interval {' to '.join(ends)} {unit}")
    if row["point"] in doubted:
        kinds = doubted[row["point"]] if isinstance(doubted, Mapping) else ""
        lines.append(f"doubts: {kinds}" if kinds else "doubted")
    return "\n".join([*lines, str(row["point"])])


def short(value: float) -> str:
    """Format a number for people: 3 significant digits, from 100 on at most one decimal."""
    return f"{round(value, 1):.12g}" if abs(value) >= 100 else f"{value:.3g}"

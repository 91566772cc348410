"""What a drawing tells whoever points at its marks, and of which series they are."""

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
"""How the name of a group begins that is such words."""

CELLS = "heat map"
"""The series of cells whose shades say how many: on dark paper the most are the brightest."""


def tell(artist: Artist, series: Sequence[str], texts: Sequence[str] = ()) -> None:
    """Let an artist say its series, in the words of the legend, and a text for each of its marks.

    It is kept in the name of the artist's group, the one thing of ours that a drawing takes along.
    """
    lines = ["\n".join(map(one_line, text.splitlines())) for text in texts]
    artist.set_gid(PREFIX + json.dumps([list(series), lines], ensure_ascii=False))


def of_points(rows: pd.DataFrame, column: str, doubted: Collection[str]) -> list[str]:
    """A text for each point: where it is, the figure with its interval, its doubts, its name.

    ``doubted`` may map points to the kinds of their doubts.
    """
    names = ("threads", *varied(rows))
    shown = rows.filter([*names, column, f"{column}_low", f"{column}_high", "point"])
    return [_of_point(row, names, column, doubted) for row in shown.to_dict("records")]


def _of_point(
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
    """A number for people: three digits of small ones, all but the fractions of large ones."""
    return f"{round(value, 1):.12g}" if abs(value) >= 100 else f"{value:.3g}"

"""Figures over many folders of runs in the order of time, with marks for steps."""

from collections.abc import Sequence
from itertools import pairwise
from math import ceil
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mqperf.pages.figures import palette
from mqperf.pages.figures.marks import (
    LEGEND_COLUMNS,
    LEGEND_HANDLE,
    LEGEND_WIDTH,
    LETTERS_ACROSS,
    PLACE,
    Pen,
    as_text,
    crowded,
    dress,
    from_zero,
    line,
    log_scale,
    shown,
    slant,
)
from mqperf.pages.figures.palette import MARKERS
from mqperf.pages.figures.ratios import SHADES
from mqperf.pages.figures.sheets import HEIGHT, multiples, one_legend, without_legend
from mqperf.plan.columns import COLUMNS, parameters
from mqperf.study.tables.axes import split

MOST_LABELS = 10
"""The most folders with labels on an axis; of more, every second, third and so on has one."""

LEGEND_LINE = 0.25
"""Height of each line of the legend below the panels."""

HIGHEST = "highest_throughput_msg_s"


def trend(
    rows: pd.DataFrame,
    column: str,
    axes: Axes,
    *,
    labels: Sequence[str],
    steps: pd.DataFrame | None = None,
) -> Axes:
    """A column of the points of one sweep over folders; a doubted point is hollow.

    ``rows`` are of ``trend_points`` or ``trend_sustained``, with the hover text of each mark in
    ``told``; ``labels`` name all folders of the trend in their order.  A line joins the same point
    on one machine, and a dashed vertical line shows where the machine changes.  ``steps`` are rows
    of this sweep to be marked, with the word for each in ``word``.
    """
    curves = list(split(rows[rows["point"].notna()], _curve_keys(rows)))
    for number, (name, curve) in enumerate(curves):
        several = len(curves) > 1
        shade = palette.spread(palette.THREADS, number, len(curves)) if several else SHADES[column]
        pen = Pen(shade, name if several else "", marker=MARKERS[number * several % len(MARKERS)])
        _curve(curve, column, axes, pen)
    if HIGHEST in rows.columns and column == "throughput_msg_s":
        _highest(rows, axes, named=len(curves) > 1)
    if steps is not None:
        _mark(rows, steps[steps["figure"] == column], column, axes)
    (log_scale if column.startswith("latency_") else from_zero)(axes)
    _machines(rows, axes)
    _folders(axes, labels)
    return dress(axes, COLUMNS[column].heading(), legend_columns=LEGEND_COLUMNS)


def trend_sheet(
    rows: pd.DataFrame,
    columns: Sequence[str],
    *,
    labels: Sequence[str],
    steps: pd.DataFrame | None = None,
) -> Figure:
    """A panel for each of these columns, of the points of one sweep over folders."""
    names = [name for name, _ in split(rows, _curve_keys(rows))]
    longest = max(map(len, names)) + LEGEND_HANDLE
    columns_of_legend = max(1, min(LEGEND_COLUMNS, LEGEND_WIDTH // longest))
    legend = LEGEND_LINE * ceil(len(names) / columns_of_legend)
    figure, [panels] = multiples([""], len(columns), HEIGHT + legend)
    for column, axes in zip(columns, panels, strict=True):
        trend(rows, column, axes, labels=labels, steps=steps)
        without_legend(axes, axes.get_title(loc="left"))
    one_legend(figure, panels, columns=columns_of_legend)
    return figure


def _curve_keys(rows: pd.DataFrame) -> list[str]:
    """The columns that distinguish curves, of one point each, even if the sustained point moves."""
    drawn = rows[rows["point"].notna()]
    candidates = ["threads", *(name for name in parameters() if name in rows.columns)]
    return [name for name in candidates if len(drawn[name].unique()) > 1]


def _curve(rows: pd.DataFrame, column: str, axes: Axes, pen: Pen) -> None:
    """Join the points of each machine, with one entry in the legend."""
    label = pen.label
    for _, of_machine in rows.groupby("machine_number", sort=False):
        placed = of_machine.assign(point=of_machine["told"]).assign(
            **{PLACE: of_machine["folder_place"].astype(float)}
        )
        doubted = placed.loc[placed["doubted"].notna(), "point"]
        entries = (pen.label,) if pen.label else ()
        machine_pen = Pen(pen.shade, label, marker=pen.marker, entries=entries)
        if placed[column].notna().any():
            line(placed, column, axes, machine_pen, doubted=list(doubted))
            label = ""


def _highest(rows: pd.DataFrame, axes: Axes, *, named: bool) -> None:
    """Draw the raw maximum of each folder where any exceeds the sustained one, joined by point."""
    measured = rows[rows[HIGHEST].notna()].sort_values("folder_place")
    higher = measured[HIGHEST] > measured["throughput_msg_s"].fillna(0)
    if higher.any():
        if not named:
            axes.plot([], [], "-o", color=SHADES["throughput_msg_s"].light, label="sustained")
        style: dict[str, Any] = {"color": palette.FAINT.light, "linewidth": 1, "markersize": 4}
        axes.plot([], [], ":", marker="x", label="raw maximum", **style)
        for _, same_point in measured.groupby(
            ["machine_number", "highest_at"], sort=False, dropna=False
        ):
            places = same_point["folder_place"].to_numpy(dtype=float)
            axes.plot(places, shown(same_point, HIGHEST), ":", marker="x", label="_", **style)


def _mark(rows: pd.DataFrame, steps: pd.DataFrame, column: str, axes: Axes) -> None:
    """Write the word for steps, and their number, above the highest point that they lead to."""
    keys = [name for name in ("folder_place", *_curve_keys(rows)) if name in steps.columns]
    marks = steps[[*keys, "word"]].merge(rows[[*keys, column]], on=keys)
    for (place, word), group in marks.groupby(["folder_place", "word"]):
        spot = float(str(place)), group[column].max() * COLUMNS[column].scale
        text = as_text(f"{len(group)} {word}" if len(group) > 1 else str(word))
        note = axes.annotate(text, spot, (0, 7), textcoords="offset points")
        note.set(color=palette.INK.light, fontsize=8, horizontalalignment="center")


def _machines(rows: pd.DataFrame, axes: Axes) -> None:
    """Draw a line between neighbouring folders of different machines."""
    machines = rows.groupby("folder_place")["machine_number"].first().sort_index()
    places = list(machines.index)
    for last, now in pairwise(places):
        if machines[last] != machines[now]:
            axes.axvline((last + now) / 2, color=palette.FAINT.light, linewidth=1, linestyle="--")
            note_style: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "rotation": 90}
            spot, away = ((last + now) / 2, 1.0), (2, -2)
            words = f"machine {machines[now]}"
            note = axes.annotate(words, spot, away, textcoords="offset points", **note_style)
            note.set(color=palette.FAINT.light, fontsize=7.5, verticalalignment="top")


def _folders(axes: Axes, labels: Sequence[str]) -> None:
    """Set the x axis to all folders, whether they have a point or not."""
    every = ceil(len(labels) / MOST_LABELS)
    places = list(range(1, len(labels) + 1))[(len(labels) - 1) % every :: every]
    texts = [as_text(labels[place - 1]) for place in places]
    axes.set_xticks(places, texts)
    if crowded(texts, LETTERS_ACROSS / 2):  # a panel is a third of a sheet
        slant(axes)
    axes.set_xlim(0.5, len(labels) + 0.5)

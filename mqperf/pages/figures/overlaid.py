"""Curves of two sets of runs on the same axes: A solid, B dashed."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mqperf.pages.figures import palette
from mqperf.pages.figures.curves import swept
from mqperf.pages.figures.marks import (
    LEGEND_COLUMNS,
    Pen,
    dress,
    from_zero,
    line,
    log_scale,
    sweep_axis,
)
from mqperf.pages.figures.panels import name_curves
from mqperf.pages.figures.ratios import SHADES
from mqperf.pages.figures.sheets import level, multiples
from mqperf.plan.columns import COLUMNS
from mqperf.study.tables import arranged, split

LOOKS = {"A": ("-", "o"), "B": ("--", "s")}
"""Dash and marker of each set."""


def overlaid(points: pd.DataFrame, column: str, axes: Axes) -> Axes:
    """Draw a column of both sets against the sweep's first axis; a doubted point is hollow.

    ``points`` are of one layout and test case, with the columns ``side``, A or B, and ``doubted``.
    Bars are 95 % intervals over the repeats.
    """
    sweep = swept(points)
    for side, (dash, marker) in LOOKS.items():
        pen = Pen(SHADES[column], side, dash, marker)
        for curve in sweep.of(side=side).curves:
            doubted = curve.rows.loc[curve.rows["doubted"], "point"]
            line(curve.rows, column, axes, curve.look(pen), doubted=list(doubted))
        if len(sweep.curves) > 1:
            axes.plot([], [], dash, color=palette.FAINT.light, linewidth=1.8, label=side)
    name_curves(sweep, axes)
    sweep_axis(axes, sweep.x, sweep.texts)
    (log_scale if column.startswith("latency_") else from_zero)(axes)
    return dress(axes, COLUMNS[column].heading(), legend_columns=LEGEND_COLUMNS)


def overlaid_sheet(points: pd.DataFrame, figures: Sequence[str]) -> Figure:
    """Draw a panel for each column; a row of panels for each value of other parameters."""
    groups = dict(split(points, arranged(points).rest))
    figure, grid = multiples(list(groups), len(figures))
    for group, panels in zip(groups.values(), grid, strict=True):
        for name, panel in zip(figures, panels, strict=True):
            overlaid(group, name, panel)
    level(grid)
    return figure

"""Maps of a sweep: the throughput at every combination of two axes, as a number on a shade."""

from collections.abc import Collection
from typing import Literal

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from mqperf.pages.figures.marks import as_text, dress, plain
from mqperf.pages.figures.palette import BOX, INK, PAPER, THROUGHPUT
from mqperf.pages.figures.sheets import multiples
from mqperf.plan.columns import COLUMNS
from mqperf.study.tables import arranged, split
from mqperf.study.tables.axis_words import worded

SHADES = LinearSegmentedColormap.from_list("throughput", [PAPER.light, BOX.light, THROUGHPUT.light])

ROW, ENDS = 0.32, 1.0
"""Heights, in inches, of a row of the map, and of the space above and below it."""


def map_sheet(points: pd.DataFrame, rows_by: str, doubted: Collection[str] = ()) -> Figure:
    """Plot the throughput by the x axis of the sweep (columns) and another axis (rows).

    Values of points that are ``doubted`` are in parentheses.
    """
    shown = arranged(points)
    panels = dict(split(points, shown.rest))
    rows = points.groupby(rows_by, dropna=False).ngroups
    figure, grid = multiples(list(panels), 1, ENDS + ROW * rows)
    for group, (axes,) in zip(panels.values(), grid, strict=True):
        marked = group.assign(doubted=group["point"].isin([*doubted]))
        throughput_map(marked, axes, shown.x, rows_by, most=points["throughput_msg_s"].max())
    return figure


def throughput_map(
    points: pd.DataFrame, axes: Axes, columns: str, rows: str, *, most: float | None = None
) -> Axes:
    """Plot the throughput by an axis of the sweep (columns) and another one (rows).

    Points that agree in both are averaged; a combination that was not measured is empty.  ``most``
    is the throughput with the darkest shade, the same in maps to be compared.  A value is in
    parentheses if one of its points is ``doubted``, by the column of that name.
    """
    texts = {name: [as_text(worded(name, v)) for v in points[name]] for name in (columns, rows)}
    figure = COLUMNS["throughput_msg_s"]
    measured = points.assign(**texts).dropna(subset=[figure.name])

    def pivoted(name: str, how: Literal["mean", "any"]) -> pd.DataFrame:
        cells = measured.pivot_table(name, index=rows, columns=columns, aggfunc=how, sort=False)
        return cells.reindex(index=_labels(points, rows), columns=_labels(points, columns))

    cells, doubted = pivoted(figure.name, "mean"), pivoted("doubted", "any")
    numbers = cells.map(lambda rate: plain(float(f"{rate:.3g}")), na_action="ignore").fillna("")
    sns.heatmap(
        cells.astype(float) * figure.scale,
        ax=axes,
        cmap=SHADES,
        vmin=0,
        vmax=most,
        cbar=False,
        linewidths=1,
        annot=numbers.mask(doubted.eq(True), "(" + numbers + ")"),  # noqa: FBT003
        fmt="",
        annot_kws={"fontsize": 8.5},
    )
    dress(axes, figure.heading())
    axes.set(xlabel="", ylabel="")
    axes.grid(visible=False)
    axes.tick_params(axis="y", rotation=0, labelcolor=INK.light)
    axes.tick_params(axis="x", rotation=0, labelcolor=INK.light)
    return axes


def _labels(points: pd.DataFrame, name: str) -> list[str]:
    """Return the labels of an axis's values, in order."""
    return [as_text(label) for label, _ in split(points, (name,))]

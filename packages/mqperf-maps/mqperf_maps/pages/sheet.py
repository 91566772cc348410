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
"""Heights of a row of the map, and of what stands above and below."""


def map_sheet(points: pd.DataFrame, rows_by: str, doubted: Collection[str] = ()) -> Figure:
    """Throughput at every combination of what is on x and of another axis, a row for each value.

    What is of points that are ``doubted`` stands in parentheses.
    """
    shown = arranged(points)
    parts = dict(split(points, shown.rest))
    rows = points.groupby(rows_by, dropna=False).ngroups
    figure, grid = multiples(list(parts), 1, ENDS + ROW * rows)
    for part, (axes,) in zip(parts.values(), grid, strict=True):
        marked = part.assign(doubted=part["point"].isin([*doubted]))
        throughput_map(marked, axes, shown.x, rows_by, most=points["throughput_msg_s"].max())
    return figure


def throughput_map(
    points: pd.DataFrame, axes: Axes, columns: str, rows: str, *, most: float | None = None
) -> Axes:
    """Throughput at each value of an axis of the sweep (columns) and of another one (rows).

    Of points that agree in both the mean is shown; a combination that was not measured is empty.
    ``most`` is the throughput with the darkest shade, in maps that are to compare.  It stands in
    parentheses where a point is ``doubted``, by that column.
    """
    words = {name: [as_text(worded(name, v)) for v in points[name]] for name in (columns, rows)}
    figure = COLUMNS["throughput_msg_s"]
    measured = points.assign(**words).dropna(subset=[figure.name])

    def combined(name: str, how: Literal["mean", "any"]) -> pd.DataFrame:
        cells = measured.pivot_table(name, index=rows, columns=columns, aggfunc=how, sort=False)
        return cells.reindex(index=_words(points, rows), columns=_words(points, columns))

    cells, doubted = combined(figure.name, "mean"), combined("doubted", "any")
    texts = cells.map(lambda rate: plain(float(f"{rate:.3g}")), na_action="ignore").fillna("")
    sns.heatmap(
        cells.astype(float) * figure.scale,
        ax=axes,
        cmap=SHADES,
        vmin=0,
        vmax=most,
        cbar=False,
        linewidths=1,
        annot=texts.mask(doubted.eq(True), "(" + texts + ")"),  # noqa: FBT003
        fmt="",
        annot_kws={"fontsize": 8.5},
    )
    dress(axes, figure.heading())
    axes.set(xlabel="", ylabel="")
    axes.grid(visible=False)
    axes.tick_params(axis="y", rotation=0, labelcolor=INK.light)
    axes.tick_params(axis="x", rotation=0, labelcolor=INK.light)
    return axes


def _words(points: pd.DataFrame, name: str) -> list[str]:
    """Every value of an axis in words, in order."""
    return [as_text(words) for words, _ in split(points, (name,))]

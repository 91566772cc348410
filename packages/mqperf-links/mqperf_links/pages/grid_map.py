"""A map of factors: a number for each delay and loss of a link, the darker the larger."""

import numpy as np
import pandas as pd
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.figure import Figure

from mqperf.pages.figures.marks import dress
from mqperf.pages.figures.palette import BOX, FAINT, INK, PAPER, THROUGHPUT
from mqperf.pages.figures.sheets import panes
from mqperf.pages.report.words import three_figures

SHADES = LinearSegmentedColormap.from_list("factor", [PAPER.light, BOX.light, THROUGHPUT.light])

ROW, ENDS = 0.4, 1.0
"""Heights, in inches, of a row of the map, and of the space above and below it."""


def grid_sheet(grids: dict[str, pd.DataFrame], rows: str, columns: str) -> Figure:
    """Plot a map for each grid, headed by its name: factors by round trip (rows), loss (columns).

    Shades are by the logarithm of the factor, the same in all maps; an empty cell was not measured,
    or no message was completed there.  ``rows`` and ``columns`` are the labels of the axes.
    """
    import seaborn as sns  # slow to load, and few reports have maps

    most = max(np.nanmax(grid.to_numpy(float)) for grid in grids.values())
    height = sum(ENDS + ROW * len(grid) for grid in grids.values())
    figure, panels = panes(1, len(grids), height)
    for (name, grid), [axes] in zip(grids.items(), panels, strict=True):
        sns.heatmap(
            grid,
            ax=axes,
            cmap=SHADES,
            norm=LogNorm(1, max(most, 1.01), clip=True),
            cbar=False,
            linewidths=1,
            annot=grid.map(three_figures, na_action="ignore").fillna(""),
            fmt="",
            annot_kws={"fontsize": 8.5},
        )
        dress(axes, name)
        axes.set(xlabel=columns, ylabel=rows)
        axes.yaxis.label.set_color(FAINT.light)
        axes.grid(visible=False)
        for axis in ("x", "y"):
            axes.tick_params(axis=axis, rotation=0, labelcolor=INK.light)
    return figure

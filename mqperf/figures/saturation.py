"""Where a sweep saturates, as bands behind its throughput."""

from math import isnan

import pandas as pd
from matplotlib.axes import Axes

from mqperf.figures.palette import BOX, FAINT

_HEIGHTS = {"knee": 0.03, "peak": 0.11}
"""Where the names stand, as shares of the panel: below the curve, and below each other."""


def saturation(knees: pd.DataFrame, axes: Axes, ends: tuple[float, float]) -> Axes:
    """Draw knee and peak of a sweep with their 95 % intervals, as far as inside ``ends``.

    Of the ``knees`` table it takes the one row of the sweep; ``ends`` are the fewest and the most
    threads that were measured.  An end of an interval outside them goes to the edge.
    """
    for row in knees.to_dict("records"):
        for name in _HEIGHTS:
            value = float(row[f"{name}_threads"])
            if ends[0] <= value <= ends[1]:
                low, high = float(row[f"{name}_threads_low"]), float(row[f"{name}_threads_high"])
                left = ends[0] if isnan(low) else max(low, ends[0])
                axes.axvspan(
                    left,
                    ends[1] if isnan(high) else min(high, ends[1]),
                    color=BOX.light,
                    alpha=0.7,
                    linewidth=0,
                    zorder=0.5,
                )
                _name(axes, name, value, ends)
    return axes


def _name(axes: Axes, name: str, threads: float, ends: tuple[float, float]) -> None:
    """A thin line at the estimate, its name to the side that has room."""
    place = axes.get_xaxis_transform()
    axes.vlines(threads, 0, 1, FAINT.light, "dotted", transform=place, linewidth=1, zorder=1)
    rightwards = threads < ends[1] * 0.6
    axes.annotate(
        f"{name} {threads:,.0f}",
        (threads, _HEIGHTS[name]),
        (4 if rightwards else -4, 0),
        xycoords=place,
        textcoords="offset points",
        horizontalalignment="left" if rightwards else "right",
        color=FAINT.light,
        fontsize=8,
    )

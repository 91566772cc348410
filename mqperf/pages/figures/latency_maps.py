"""Heat maps of latency over time: number of messages by second and class of latency."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from mqperf.pages.figures.marks import dress, plain
from mqperf.pages.figures.palette import FAINT, LATENCY
from mqperf.pages.figures.sheets import HEIGHT, MOST_ACROSS, tiles
from mqperf.pages.figures.told import CELLS, tell
from mqperf.plan.columns import COLUMNS

SHADES = LinearSegmentedColormap.from_list("messages", ["#dee2e7", "#0a5ea9", "#24292e"])
"""One message is pale but visible.  No shade is of the palette: all are inverted on dark paper."""

FEWEST = 2.0
"""Least rate of the darkest shade in msg/s: a log scale needs two different ends."""


def latency_map(
    rows: pd.DataFrame,
    axes: Axes,
    *,
    outages: pd.DataFrame,
    title: str = "",
    among: pd.DataFrame | None = None,
) -> Axes:
    """Draw the number of messages by the second of their start and the class of their latency.

    ``rows`` are those of ``tables.latency_map`` of one run; ``outages`` are its actions, whose
    begin and end are drawn as lines.  For panels of one sheet ``among`` has the rows of all
    panels: their axes and shades then agree.
    """
    everything = rows if among is None else among
    if len(everything):
        axes.set_yscale("log")
        axes.set_xlim(everything["start_s"].min(), everything["end_s"].max())
        axes.set_ylim(_ms(everything["from_s"]).min(), _ms(everything["below_s"]).max())
    if len(rows):
        axes.add_collection(_cells(rows, norm(everything)))
    for action in outages[["began_s", "ended_s"]].to_numpy(dtype=float):
        axes.vlines(action, *axes.get_ylim(), color=LATENCY.light, linewidth=1.2)
    heading = COLUMNS["latency_s"].heading()
    dress(axes, f"{title}: {heading}" if title else heading)
    axes.set_xlabel(COLUMNS["start_s"].heading(), fontsize=9)
    axes.yaxis.set_major_locator(LogLocator())
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(plain))
    return axes


def latency_map_sheet(maps: Mapping[str, pd.DataFrame], outages: pd.DataFrame) -> Figure:
    """Draw a heat map for each run; keys of ``maps`` are titles, ``outages`` those of all runs."""
    figure, grid = tiles(len(maps), MOST_ACROSS, HEIGHT)
    panels = [panel for row in grid for panel in row]
    everything = pd.concat(maps.values())
    for (words, rows), axes in zip(maps.items(), panels, strict=False):
        of_run = outages[outages["run"].isin(rows["run"])]
        latency_map(rows, axes, outages=of_run, title=words, among=everything)
    shades = ScalarMappable(norm(everything), SHADES)
    bar = figure.colorbar(shades, ax=panels, label="messages a second", shrink=0.6)
    look: dict[str, Any] = {"colors": FAINT.light, "labelsize": 9}
    bar.ax.tick_params(which="both", **look)
    bar.ax.yaxis.label.set(color=FAINT.light, fontsize=9)
    bar.ax.yaxis.set_major_formatter(FuncFormatter(plain))
    bar.outline.set_visible(False)
    return figure


def norm(rows: pd.DataFrame) -> LogNorm:
    """Return the log scale of shades, from one message a second to the largest rate of a cell."""
    return LogNorm(1, max(_rates(rows).max(initial=0), FEWEST))


def _rates(rows: pd.DataFrame) -> np.ndarray:
    length = (rows["end_s"] - rows["start_s"]).to_numpy(dtype=float)
    rates: np.ndarray = rows["count"].to_numpy(dtype=float) / length
    return rates


def _ms(latencies_s: pd.Series) -> np.ndarray:
    return latencies_s.to_numpy(dtype=float) * COLUMNS["latency_s"].scale


def _cells(rows: pd.DataFrame, scale: LogNorm) -> PolyCollection:
    left, right = (rows[name].to_numpy(dtype=float) for name in ("start_s", "end_s"))
    low, high = _ms(rows["from_s"]), _ms(rows["below_s"])
    corners = np.stack([left, low, right, low, right, high, left, high], axis=1)
    cells = PolyCollection(list(corners.reshape(-1, 4, 2)), cmap=SHADES, norm=scale)
    cells.set(array=_rates(rows), linewidth=0, clip_on=True)
    tell(cells, [CELLS])
    return cells

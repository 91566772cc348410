"""Panels of hosts: their clocks, and the traffic of their networks."""

from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from mqperf.pages.figures import palette
from mqperf.pages.figures.marks import as_text, dress, plain, shown
from mqperf.pages.figures.palette import MARKERS
from mqperf.plan.columns import COLUMNS

SLOT = 0.7
"""Share of a host's place on an axis that its marks take."""

_COMPARED = {"before": palette.THROUGHPUT, "after": palette.LATENCY}
_DIRECTIONS = {"sent_bytes_s": palette.SENT, "received_bytes_s": palette.RECEIVED}


def clocks(hosts: pd.DataFrame, axes: Axes) -> Axes:
    """Plot how far each clock was ahead before and after each run's load, with error bars.

    ``hosts`` are rows of that table; the runs of a host are side by side, in their order.
    """
    names, runs = list(hosts["host"].unique()), list(hosts["run"].unique())
    spacing = SLOT / max(2 * len(runs), 1)
    marks = zip(hosts["host"], hosts["run"], strict=True)
    lefts = [names.index(host) + 2 * spacing * runs.index(run) for host, run in marks]
    places = np.array(lefts, dtype=float) - SLOT / 2 + spacing / 2
    for number, (when, shade) in enumerate(_COMPARED.items()):
        offsets = shown(hosts, f"clock_offset_{when}_s")
        if not np.isfinite(offsets).any():
            continue
        axes.errorbar(
            places + number * spacing,
            offsets,
            np.nan_to_num(shown(hosts, f"clock_bound_{when}_s")),
            linestyle="none",
            marker=MARKERS[number],
            markersize=4,
            elinewidth=1,
            color=shade.light,
            label=f"{when} the load",
        )
    if axes.has_data():
        axes.axhline(0, color=palette.FAINT.light, linewidth=0.8, zorder=1)
        axes.yaxis.set_major_formatter(FuncFormatter(plain))
        axes.set_xticks(range(len(names)), [as_text(name) for name in names])
        axes.set_xlim(-0.5, len(names) - 0.5)
    ahead = replace(COLUMNS["clock_offset_before_s"], label="clock ahead of the controller's")
    return dress(axes, ahead.heading())


def traffic(network: pd.DataFrame, axes: Axes, *, subject: str = "received and") -> Axes:
    """Plot, as bars, what each interface sent and received over the window of a run.

    ``network`` are rows of that table.
    """
    names = [f"{row.host} {row.interface}" for row in network.itertuples()]
    height = SLOT / len(_DIRECTIONS)
    for number, (column, shade) in enumerate(_DIRECTIONS.items()):
        if network.empty:
            continue
        places = np.arange(len(names)) + (number - 0.5) * height
        values = shown(network, column)
        label = COLUMNS[column].label
        bars = axes.barh(places, values, height * 0.9, color=shade.light, label=label)
        texts = [plain(float(f"{value:.3g}")) for value in values]
        axes.bar_label(bars, texts, padding=4, color=palette.INK.light, fontsize=8.5)
    axes.set_yticks(range(len(names)), [as_text(name) for name in names])
    axes.margins(x=0.15)
    if names:
        axes.invert_yaxis()
    dress(axes, COLUMNS["sent_bytes_s"].heading(subject))
    axes.tick_params(axis="y", labelcolor=palette.INK.light)
    axes.grid(visible=False)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    return axes

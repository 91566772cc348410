"""Internal metrics of broker nodes over time: waiting messages, memory, garbage collection."""

from dataclasses import replace

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from mqperf.pages.figures.marks import as_text, dress, from_zero
from mqperf.pages.figures.panels import pens_by_load
from mqperf.pages.figures.sheets import HEIGHT, panes
from mqperf.plan.columns import COLUMNS
from mqperf.study.probes.node_metrics import node_summary

PANELS = {
    "waiting_max": ("waiting", node_summary.waiting),
    "memory_max_bytes": ("memory", node_summary.memory),
    "paused_s": ("garbage collection", node_summary.collecting),
}
"""Column whose unit a panel has -> label of the panel, and function that gives its rows."""


def inside_sheet(metrics: pd.DataFrame) -> Figure:
    """Draw a panel for each recorded metric: waiting messages, memory, garbage collection."""
    recorded = [name for name, (_, rows_of) in PANELS.items() if len(rows_of(metrics))]
    figure, (grid,) = panes(max(len(recorded), 1), 1, HEIGHT - 0.4)
    for name, axes in zip(recorded, grid, strict=False):
        inside(metrics, axes, name)
    return figure


def inside(metrics: pd.DataFrame, axes: Axes, name: str) -> Axes:
    """Draw a metric over all nodes of a run together in each second, one line per run.

    ``name`` is one of ``PANELS``; ``metrics`` may have the parameters of its runs.
    """
    label, rows_of = PANELS[name]
    values, column = rows_of(metrics).set_index("run"), COLUMNS[name]
    all_runs = metrics.drop_duplicates("run")
    for point, pen, runs in pens_by_load(all_runs, all_runs):
        for number, run in enumerate(run for run in runs["run"] if run in values.index):
            rows = values.loc[[run]]
            axes.plot(
                rows["time_s"].to_numpy(dtype=float),
                rows["value"].to_numpy(dtype=float) * column.scale,
                color=pen.shade.light,
                linestyle=pen.dash,
                linewidth=1.3,
                label=as_text(point) if number == 0 else "_",
            )
    axes.set_xlabel(COLUMNS["time_s"].heading(), fontsize=9)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    from_zero(axes)
    return dress(axes, replace(column, label=label).heading(), legend_columns=3)

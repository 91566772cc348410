"""The seconds of one run: their lines, and the columns of its heat map."""

from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from mqperf.pages.figures import palette
from mqperf.pages.figures.marks import as_shown
from mqperf.pages.figures.told import tell

MOST = 150
"""Columns of a heat map: where there are more seconds, each is of several."""

MOST_MARKS = 120
"""Seconds up to which lines have markers."""

Span = tuple[float, float]


def line(axes: Axes, label: str, values: pd.Series, shade: palette.Shade, dash: str = "-") -> None:
    """One value for each second, by its start; a second without one is a gap."""
    if values.empty:
        return
    every = np.arange(values.index.min(), values.index.max() + 1)
    heights = values.reindex(every).to_numpy(dtype=float, na_value=np.nan)
    marker = "." if len(every) <= MOST_MARKS else ""
    look: dict[str, Any] = {"color": shade.light, "linewidth": 1.4, "markersize": 4}
    (drawn,) = axes.plot(every + 0.5, heights, dash, marker=marker, label=label, **look)
    tell(drawn, [as_shown(label)])


def phases(intervals: pd.DataFrame) -> dict[str, Span]:
    """From when to when each phase of the load was, in the order of the rows."""
    starts = intervals.groupby("phase", sort=False)["start_s"]
    return {str(phase): (float(of.min()), float(of.max()) + 1) for phase, of in starts}


def finished_rows(intervals: pd.DataFrame) -> pd.DataFrame:
    """The rows of messages that were finished: replied to where any were, else received."""
    replied = intervals["stream"].eq("round-trip")
    return intervals[replied if replied.any() else intervals["stream"].eq("received")]


def latencies(intervals: pd.DataFrame) -> pd.DataFrame:
    """Mean and largest latency of the messages finished in each second, of all processes.

    By the start of the second: ``latency_mean_s`` and ``latency_max_s``.
    """
    rows = finished_rows(intervals).dropna(subset="latency_mean_s")
    by_second = rows.assign(sum_s=rows["latency_mean_s"] * rows["count"]).groupby("start_s")
    mean = by_second["sum_s"].sum() / by_second["count"].sum()
    return pd.DataFrame({"latency_mean_s": mean, "latency_max_s": by_second["latency_max_s"].max()})


def coarser(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of a heat map with at most ``MOST`` columns, of several seconds each if need be."""
    if rows.empty:
        return rows
    begin, end = float(rows["start_s"].min()), float(rows["end_s"].max())
    step = ceil((end - begin) / MOST)
    if step <= 1:
        return rows
    start = begin + (rows["start_s"] - begin) // step * step
    wide = rows.assign(start_s=start, end_s=start + step)
    names = ["run", "start_s", "end_s", "from_s", "below_s"]
    return wide.groupby(names, as_index=False)[["count"]].sum()


def with_gaps(cpu: pd.DataFrame) -> pd.DataFrame:
    """The samples of processes, with one of nothing where a process was not sampled for a while."""
    samples = cpu.sort_values(["process", "start_s"])
    until = samples.groupby("process")["end_s"].shift()
    missing = samples[samples["start_s"] - until > 0.5 * (samples["end_s"] - samples["start_s"])]
    empty = missing.assign(
        start_s=until[missing.index], end_s=missing["start_s"], total_cores=float("nan")
    )
    return pd.concat([samples, empty], ignore_index=True)

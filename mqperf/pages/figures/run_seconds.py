"""Time series of one run, second by second, and the columns of its heat map."""

from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from mqperf.pages.figures import palette
from mqperf.pages.figures.marks import as_shown
from mqperf.pages.figures.told import tell

MOST = 150
"""Most columns of a heat map: of a longer run each column is several seconds."""

MOST_MARKS = 120
"""Most seconds of a line with markers."""

Span = tuple[float, float]


def line(axes: Axes, label: str, values: pd.Series, shade: palette.Shade, dash: str = "-") -> None:
    """Draw one value for each second, indexed by its start; a second without a value is a gap."""
    if values.empty:
        return
    seconds = np.arange(values.index.min(), values.index.max() + 1)
    heights = values.reindex(seconds).to_numpy(dtype=float, na_value=np.nan)
    marker = "." if len(seconds) <= MOST_MARKS else ""
    look: dict[str, Any] = {"color": shade.light, "linewidth": 1.4, "markersize": 4}
    (drawn,) = axes.plot(seconds + 0.5, heights, dash, marker=marker, label=label, **look)
    tell(drawn, [as_shown(label)])


def phases(intervals: pd.DataFrame) -> dict[str, Span]:
    """Return start and end of each phase of the load in s, in the order of the rows."""
    by_phase = intervals.groupby("phase", sort=False)["start_s"]
    return {str(phase): (float(s.min()), float(s.max()) + 1) for phase, s in by_phase}


def finished_rows(intervals: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of finished messages: of replies if there are any, else of receptions."""
    replied = intervals["stream"].eq("round-trip")
    return intervals[replied if replied.any() else intervals["stream"].eq("received")]


def latencies(intervals: pd.DataFrame) -> pd.DataFrame:
    """Return mean and largest latency of the messages finished in each second by all processes.

    The index is the start of the second, the columns ``latency_mean_s`` and ``latency_max_s``.
    """
    rows = finished_rows(intervals).dropna(subset="latency_mean_s")
    by_second = rows.assign(sum_s=rows["latency_mean_s"] * rows["count"]).groupby("start_s")
    mean = by_second["sum_s"].sum() / by_second["count"].sum()
    return pd.DataFrame({"latency_mean_s": mean, "latency_max_s": by_second["latency_max_s"].max()})


def coarser(rows: pd.DataFrame) -> pd.DataFrame:
    """Merge seconds of a heat map so that it has at most ``MOST`` columns."""
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
    """Add a row of NaN wherever a process was not sampled for more than half an interval."""
    samples = cpu.sort_values(["process", "start_s"])
    previous_end = samples.groupby("process")["end_s"].shift()
    length = samples["end_s"] - samples["start_s"]
    late = samples[samples["start_s"] - previous_end > 0.5 * length]
    start = previous_end[late.index]
    gaps = late.assign(start_s=start, end_s=late["start_s"], total_cores=float("nan"))
    return pd.concat([samples, gaps], ignore_index=True)

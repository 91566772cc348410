"""The seconds of one run: their lines, and what each of them tells to whoever points at it."""

from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from mqperf.figures import palette
from mqperf.figures.marks import as_shown
from mqperf.figures.told import tell

SECONDS = "each second"
"""The series of what is pointed at to hear the figures of a second."""

MOST = 150
"""Places along the time axis that tell their figures, and columns of a heat map: where there are
more seconds, each is of several."""

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


def latencies(intervals: pd.DataFrame) -> pd.DataFrame:
    """Mean and largest latency of the messages finished in each second, of all processes.

    By the start of the second: ``latency_mean_s`` and ``latency_max_s``.
    """
    streams = intervals["stream"]
    kind = "round-trip" if (streams == "round-trip").any() else "received"
    rows = intervals[streams.eq(kind) & intervals["latency_mean_s"].notna()]
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
    own = cpu.sort_values(["process", "start_s"])
    until = own.groupby("process")["end_s"].shift()
    missing = own[own["start_s"] - until > 0.5 * (own["end_s"] - own["start_s"])]
    empty = missing.assign(
        start_s=until[missing.index], end_s=missing["start_s"], total_cores=float("nan")
    )
    return pd.concat([own, empty], ignore_index=True)


def tell_seconds(axes: Axes, load: Span) -> None:
    """Let each second of a panel tell what its lines are at; means, where it is several."""
    title = axes.get_title(loc="left")
    named = [one for one in axes.lines if not str(one.get_label()).startswith("_")]
    # a line that is alone has its name above it
    names = [title] if len(named) == 1 else [str(one.get_label()) for one in named]
    values = {
        as_shown(name): np.column_stack([np.asarray(xy, dtype=float) for xy in one.get_data()])
        for name, one in zip(names, named, strict=True)
    }
    step = max(1, ceil((load[1] - load[0]) / MOST))
    for start in np.arange(load[0], load[1], step):
        until = min(start + step, load[1])
        told = {name: _mean(places, start, until) for name, places in values.items()}
        texts = [f"{name}: {value:.4g}" for name, value in told.items() if np.isfinite(value)]
        if texts:
            look: dict[str, Any] = {"color": palette.PAPER.light, "linewidth": 0, "zorder": 9}
            span = axes.axvspan(start, until, alpha=0.001, **look)
            tell(span, [SECONDS], ["\n".join([f"{start:g} to {until:g} s", *texts])])


def _mean(places: np.ndarray, start: float, until: float) -> float:
    """Of the values from ``start`` to before ``until``; NaN where there is none."""
    x, y = places[:, 0], places[:, 1]
    own = y[(x >= start) & (x < until) & np.isfinite(y)]
    return float(own.mean()) if len(own) else float("nan")

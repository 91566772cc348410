"""One run over time: throughput, latency, CPU, node metrics and events on one time axis.

Panels are drawn from the same tables as all other figures.  What was not measured has no panel.
A second is drawn at its middle.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from mqperf.pages.figures import node_metrics, palette, run_lanes, run_seconds
from mqperf.pages.figures.host_cpu import host_cpu
from mqperf.pages.figures.latency_maps import latency_map
from mqperf.pages.figures.marks import dress, from_zero, head_points, plain
from mqperf.pages.figures.run_lanes import LONGEST_NAME, Lane
from mqperf.pages.figures.run_seconds import Span, finished_rows, line
from mqperf.pages.figures.sheets import WIDTH
from mqperf.plan.columns import COLUMNS
from mqperf.study.tables import Tables

ACROSS = 8
"""Most columns of a legend."""

BODY, LANE = 1.25, 0.24
"""Height of a panel, and of each lane of events, in inches."""

BELOW, BESIDE, LETTER = 0.34, 0.25, 0.078
"""Margins below and to the right of a panel, and width of a letter of a lane's name, in inches."""

Draw = Callable[[Axes], object]


@dataclass(frozen=True, slots=True)
class OneRun:
    """The data drawn of a run: its rows of every table, its latencies over time, its doubts.

    ``latencies`` has the rows of ``tables.latency_map``, if any; ``doubted`` has those of
    ``stats.doubted_times``.
    """

    tables: Tables
    latencies: pd.DataFrame
    doubted: pd.DataFrame

    @property
    def samples(self) -> pd.DataFrame:
        """CPU of every process in every second in which it was sampled."""
        cpu = self.tables["cpu"]
        return cpu[cpu["scope"].eq("interval")]

    @property
    def lanes(self) -> list[Lane]:
        """The lanes of the events panel."""
        return run_lanes.lanes(self.tables, self.doubted, self.load)

    @property
    def load(self) -> Span:
        """Start and end of the load, in seconds since the start of the window."""
        starts = [self.tables["intervals"]["start_s"], self.latencies["start_s"]]
        starts.append(self.samples["start_s"].round())
        seconds = np.concatenate([column.to_numpy(dtype=float) for column in starts])
        return min(0.0, seconds.min(initial=0.0)), seconds.max(initial=0.0) + 1

    def ends(self, lanes: Sequence[Lane]) -> Span:
        """Return start and end of the load, extended to events that began before or ended after."""
        begin, end = self.load
        all_events = [event for _, events in lanes for event in events]
        begins, ends = [event.begin for event in all_events], [event.end for event in all_events]
        return min([begin, *begins]), max([end, *ends])


def run_sheet(run: OneRun) -> Figure:
    """Draw all panels of a run below each other; their time axes have the same limits."""
    figure = Figure(figsize=(WIDTH, BODY), facecolor=palette.PAPER.light)
    heights: list[float] = []
    panels: list[Axes] = []
    lanes = run.lanes
    ends = run.ends(lanes)
    for height, draw in _panels(run, lanes):
        panels.append(figure.add_axes((0.1, 0.1, 0.8, 0.8), label=str(len(panels))))
        draw(panels[-1])
        heights.append(height)
    _share_time_axis(panels, run, ends)
    for axes in panels[-1:]:
        axes.set_xlabel(COLUMNS["start_s"].heading(), fontsize=9)
    _place(figure, panels, heights, [name for name, _ in lanes])
    figure.set_label(json.dumps(ends))  # tells the SVG that all panels share the time axis
    return figure


def _panels(run: OneRun, lanes: Sequence[Lane]) -> Iterator[tuple[float, Draw]]:
    """Yield height in inches and drawing function of each panel that has data."""
    intervals, metrics = run.tables["intervals"], run.tables["node_metrics"]
    if len(intervals):
        yield BODY, partial(_throughput, intervals)
    if len(run.latencies) or intervals["latency_mean_s"].notna().any():
        yield BODY * 1.2, partial(_latency, run)
    hosts = list(run.samples["host"].dropna().unique())
    for host in hosts or [""] * (not run.samples.empty):
        yield BODY, partial(_cpu, run.samples, host, f"{host} CPU" if len(hosts) > 1 else "CPU")
    for name, (_, rows_of) in node_metrics.PANELS.items():
        if len(metrics) and len(rows_of(metrics)):
            yield BODY * 0.7, partial(node_metrics.inside, metrics, name=name)
    if lanes:
        yield LANE * len(lanes), partial(run_lanes.draw, lanes)


def _throughput(intervals: pd.DataFrame, axes: Axes) -> None:
    """Draw messages sent and finished in each second, and errors if there were any."""
    stream = intervals["stream"]
    for name, rows, shade in (
        ("sent", intervals[stream.eq("sent")], palette.SENT),
        ("errors", intervals[stream.eq("error")], palette.FAILED),
        ("finished", finished_rows(intervals), palette.THROUGHPUT),
    ):
        counts = rows.groupby("start_s")["count"].sum()
        if name != "errors" or counts.gt(0).any():
            line(axes, name, counts, shade)
    from_zero(axes)
    dress(axes, COLUMNS["throughput_msg_s"].heading(), legend_columns=ACROSS)


def _latency(run: OneRun, axes: Axes) -> None:
    """Draw a heat map by second of start, and mean and largest latency by second of finish."""
    rows, heading = run_seconds.coarser(run.latencies), COLUMNS["latency_s"].heading()
    if len(rows):
        latency_map(rows, axes, outages=run.tables["outages"].head(0))
    by_second, scale = run_seconds.latencies(run.tables["intervals"]), COLUMNS["latency_s"].scale
    for name, column, dash in (("mean", "latency_mean_s", "-"), ("largest", "latency_max_s", ":")):
        line(axes, name, by_second[column] * scale, palette.LATENCY, dash)
    drawn = [np.asarray(curve.get_ydata(), dtype=float) for curve in axes.lines]
    cells = rows[["from_s", "below_s"]].to_numpy(dtype=float).ravel() * scale
    values = np.concatenate([*drawn, cells])
    positive = values[np.isfinite(values) & (values > 0)]
    if len(positive):
        axes.set_yscale("log")
        axes.set_ylim(positive.min() / 1.1, positive.max() * 1.1)
        narrow = positive.max() < 100 * positive.min()
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if narrow else (1,)))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(plain))
    dress(axes, heading, legend_columns=ACROSS)


def _cpu(samples: pd.DataFrame, host: str, subject: str, axes: Axes) -> None:
    """Draw the CPU of the processes of a host, and of the whole host, in each second."""
    nodes = list(samples.loc[samples["kind"].eq("broker"), "process"].unique())
    of_host = run_seconds.with_gaps(samples[samples["host"].eq(host)] if host else samples)
    host_cpu(of_host, axes, nodes=nodes, subject=subject, legend_columns=ACROSS)


def _share_time_axis(panels: Sequence[Axes], run: OneRun, ends: Span) -> None:
    """Set the time axis of all panels; shade phases and actions, and mark doubts, in each."""
    intervals, outages = run.tables["intervals"], run.tables["outages"]
    outside = run_seconds.phases(intervals[intervals["phase"].ne("window")])
    spans = [(*span, palette.BOX, 0.5) for span in outside.values()]
    for began, ended in outages[["began_s", "ended_s"]].dropna().to_numpy(dtype=float):
        spans.append((began, ended, palette.ACTION, 0.6))
    doubts = dict.fromkeys(run.doubted["from_s"].astype(float))
    for axes in panels:
        axes.set_xlabel("")
        axes.set_xlim(*ends)
        axes.xaxis.set_major_locator(MaxNLocator(12, integer=True))
        for begin, end, shade, order in spans:
            axes.axvspan(float(begin), float(end), color=shade.light, linewidth=0, zorder=order)
        for start in doubts:
            axes.axvline(start, color=palette.LOST.light, linewidth=1, linestyle=":", zorder=0.7)


def _place(
    figure: Figure, panels: Sequence[Axes], heights: Sequence[float], names: Sequence[str]
) -> None:
    """Place the panels below each other, with room for titles, legends and lane names."""
    header_heights = [head_points(axes, ACROSS) / 72 + 0.05 for axes in panels]
    total = sum(header_heights) + sum(heights) + BELOW * len(panels) + 0.15
    figure.set_size_inches(WIDTH, total)
    letters = max((min(len(name), LONGEST_NAME) for name in names), default=0)
    left = max(0.75, 0.2 + LETTER * letters)
    top = total
    for axes, header, height in zip(panels, header_heights, heights, strict=True):
        top -= header + height
        width = (WIDTH - left - BESIDE) / WIDTH
        axes.set_position((left / WIDTH, top / total, width, height / total))
        top -= BELOW

"""Sheets: panels side by side on one ``Figure``, sharing what they are drawn against."""

from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from mqperf.figures import panels
from mqperf.figures.palette import INK, PAPER
from mqperf.figures.ratios import ratios

WIDTH, HEIGHT = 10.0, 3.3


def sweep_sheet(
    points: pd.DataFrame,
    *,
    doubted: Collection[str] = (),
    saturation_points: pd.DataFrame | None = None,
    system: str = "",
    stream: str = "",
) -> Figure:
    """Throughput | latency | CPU against threads; what was not measured has no panel."""
    measured = [
        name for name in ("latency_mean_s", "cpu_total_cores") if points[name].notna().any()
    ]
    figure, axes = _sheet(1 + len(measured))
    panels.throughput(points, axes[0], doubted=doubted, saturation_points=saturation_points)
    rest = iter(axes[1:])
    if "latency_mean_s" in measured:
        panels.latency(points, next(rest), doubted=doubted, subject=stream)
    if "cpu_total_cores" in measured:
        panels.broker_cpu(points, next(rest), doubted=doubted, subject=system)
    return figure


def count_sheet(messages: pd.DataFrame) -> Figure:
    """Messages counted | messages that went wrong, of every run, against threads."""
    figure, (counted, wrong) = _sheet(2)
    panels.message_count(messages, counted)
    panels.message_faults(messages, wrong)
    return figure


def node_sheet(cpu: pd.DataFrame) -> Figure:
    """CPU of each broker node against threads."""
    figure, (axes,) = _sheet(1, HEIGHT + 0.2)
    panels.node_cpu(cpu, axes)
    return figure


def time_sheet(intervals: pd.DataFrame, outages: pd.DataFrame) -> Figure:
    """Throughput of every run, second by second, and when actions of the plan went on."""
    figure, (axes,) = _sheet(1, HEIGHT - 0.4)
    panels.over_time(intervals, axes, outages)
    return figure


def topology_sheet(
    points: pd.DataFrame, titles: Mapping[str, str], *, doubted: Collection[str] = ()
) -> Figure:
    """Topologies compared: a panel for each test case, named by ``titles``; one legend."""
    cases = [case for case in titles if (points["test_case"] == case).any()]
    figure, axes = _sheet(len(cases), HEIGHT + 0.6)
    for case, panel in zip(cases, axes, strict=True):
        panels.topologies(points[points["test_case"] == case], panel, doubted=doubted)
        title = f"{titles[case]} {panel.get_title(loc='left')}"
        panel.set_title(title, loc="left", color=INK.light, fontsize=10, fontweight="bold", pad=8)
        _drop_legend(panel)
    handles = {
        label: handle
        for panel in axes
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    if len(handles) > 1:
        look: dict[str, Any] = {"frameon": False, "fontsize": 9, "labelcolor": INK.light}
        place: dict[str, Any] = {"loc": "outside lower left", "ncols": 2, "handlelength": 3}
        figure.legend(handles.values(), handles, **place, **look)
    return figure


def top_sheet(best: pd.DataFrame, titles: Mapping[str, str]) -> Figure:
    """Bars of the top throughput of each topology, one for each test case."""
    figure, (axes,) = _sheet(1, 0.7 + 0.24 * len(best) + 0.12 * best["label"].nunique())
    panels.tops(best, titles, axes)
    return figure


def ratio_sheet(comparison: pd.DataFrame) -> Figure:
    """Ratios of two sets of runs: a panel for each figure that was compared, points as rows."""
    figures = list(comparison["figure"].unique())
    points = comparison.groupby("figure").size().max()
    figure, axes = _sheet(len(figures), 1.0 + 0.24 * points)
    for name, panel in zip(figures, axes, strict=True):
        ratios(comparison, panel, figure=name)
    for panel in axes[1:]:
        panel.tick_params(labelleft=False)
    return figure


def _sheet(count: int, height: float = HEIGHT) -> tuple[Figure, list[Axes]]:
    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.1, wspace=0.05)
    figure = Figure(figsize=(WIDTH, height), facecolor=PAPER.light, layout=layout)
    return figure, list(figure.subplots(1, count, squeeze=False)[0])


def _drop_legend(axes: Axes) -> None:
    legend = axes.get_legend()
    if legend is not None:
        legend.remove()

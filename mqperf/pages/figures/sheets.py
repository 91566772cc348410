"""Sheets: panels side by side on one ``Figure``, with the same x axis.

Parameters beyond a panel's x and colours are shown as small multiples: a row of panels for each
value, with the same y axes.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from math import ceil
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from mqperf.pages.figures import panels
from mqperf.pages.figures.labels import told_apart
from mqperf.pages.figures.marks import as_lines, as_text, fitting
from mqperf.pages.figures.palette import INK, PAPER
from mqperf.pages.figures.percentiles import percentiles
from mqperf.pages.figures.ratios import point_label, ratios, under_condition
from mqperf.plan.test_cases import in_unit, unit_of
from mqperf.study.tables import arranged, split, where

WIDTH, HEIGHT = 10.0, 3.3

ROWS, ROW = 3, 0.19
"""Rows of a legend that fit below panels, and height of each further one in inches."""

MOST_ACROSS = 2
"""Most panels side by side if their legends have an entry for each point."""

METRICS: Mapping[str, Callable[..., Axes]] = {
    "throughput": panels.throughput,
    "latency": panels.latency,
    "cpu": panels.broker_cpu,
    "cpu_per_message": panels.cpu_per_message,
}
"""Panels of a sweep that can be drawn alone."""

HEADING = 0.3
"""Height of the heading above each of several rows, in inches."""


def sweep_sheet(
    points: pd.DataFrame,
    *,
    doubted: Collection[str] = (),
    saturation_points: pd.DataFrame | None = None,
    system: str = "",
    stream: str = "",
) -> Figure:
    """Draw throughput | latency | CPU of a sweep; what was not measured has no panel."""
    measured = [
        name for name in ("latency_mean_s", "cpu_total_cores") if points[name].notna().any()
    ]
    groups = dict(split(points, arranged(points).rest))
    figure, grid = multiples(list(groups), 1 + len(measured))
    for group, axes in zip(groups.values(), grid, strict=True):
        panels.throughput(group, axes[0], doubted=doubted, saturation_points=saturation_points)
        rest = iter(axes[1:])
        if "latency_mean_s" in measured:
            panels.latency(group, next(rest), doubted=doubted, subject=stream, named=False)
        if "cpu_total_cores" in measured:
            panels.broker_cpu(group, next(rest), doubted=doubted, subject=system, named=False)
    level(grid)
    return figure


def count_sheet(messages: pd.DataFrame) -> Figure:
    """Draw message counts | faulty messages of every run."""
    groups = dict(split(messages, arranged(messages).beside_x))
    figure, grid = multiples(list(groups), 2)
    for group, (count_panel, fault_panel) in zip(groups.values(), grid, strict=True):
        panels.message_count(group, count_panel)
        panels.message_faults(group, fault_panel)
    level(grid)
    return figure


def percentile_sheet(rows: pd.DataFrame, *, stream: str = "") -> Figure:
    """Draw latency by percentile: a line for each value on x, a panel for each other parameter."""
    groups = dict(split(rows, arranged(rows).beside_x))
    figure, grid = tiles(len(groups), MOST_ACROSS, HEIGHT)
    all_panels = [panel for row in grid for panel in row]
    for (title, group), axes in zip(groups.items(), all_panels, strict=False):
        percentiles(group, axes, subject=stream, title=title, among=rows)
        if len(groups) > 1:
            without_legend(axes, axes.get_title(loc="left"))
    level([[panel] for panel in all_panels[: len(groups)]])
    if len(groups) > 1:
        one_legend(figure, all_panels, columns=3)
    return figure


def metric_sheet(points: pd.DataFrame, metric: str, *, doubted: Collection[str] = ()) -> Figure:
    """Draw one of the ``METRICS`` of a sweep."""
    groups = dict(split(points, arranged(points).rest))
    figure, grid = multiples(list(groups), 1)
    for group, (axes,) in zip(groups.values(), grid, strict=True):
        METRICS[metric](group, axes, doubted=doubted)
    level(grid)
    return figure


def node_sheet(cpu: pd.DataFrame) -> Figure:
    """Draw the CPU of each broker node."""
    groups = dict(split(cpu, arranged(cpu).beside_x))
    figure, grid = multiples(list(groups), 1, HEIGHT + 0.2)
    for group, (axes,) in zip(groups.values(), grid, strict=True):
        panels.node_cpu(group, axes)
    level(grid)
    return figure


def time_sheet(intervals: pd.DataFrame, outages: pd.DataFrame) -> Figure:
    """Draw the throughput of every run, second by second, and the times of actions of the plan.

    If several conditions have actions, each condition has a panel.
    """
    conditions = _disturbed_alone(intervals, outages)
    beside = [name for name in arranged(intervals).beside_x if name not in conditions]
    groups = dict(split(intervals, [*beside, *conditions]))
    figure, grid = multiples(list(groups), 1, HEIGHT - 0.4)
    for group, (axes,) in zip(groups.values(), grid, strict=True):
        group_outages = outages[outages["run"].isin(group["run"])]
        panels.over_time(group, axes, group_outages, among=intervals)
    level(grid)
    return figure


def _disturbed_alone(intervals: pd.DataFrame, outages: pd.DataFrame) -> list[str]:
    """Return ``["condition"]`` if several conditions have actions, whose times differ."""
    if "condition" not in intervals.columns:
        return []
    disturbed = intervals[intervals["run"].isin(outages["run"])]
    return ["condition"] if len(disturbed["condition"].unique()) > 1 else []


def topology_sheet(
    points: pd.DataFrame, titles: Mapping[str, str], *, doubted: Collection[str] = ()
) -> Figure:
    """Compare topologies: a panel for each test case, named by ``titles``, and one legend."""
    cases = [case for case in titles if (points["test_case"] == case).any()]
    groups = dict(split(points, arranged(points).beside_x))
    figure, grid = multiples(list(groups), len(cases), HEIGHT + 0.6)
    for group, axes in zip(groups.values(), grid, strict=True):
        for case, panel in zip(cases, axes, strict=True):
            panels.topologies(where(group, test_case=case), panel, doubted=doubted)
            heading = in_unit(panel.get_title(loc="left"), unit_of(case))
            without_legend(panel, f"{titles[case]} {heading}")
    level(grid)
    one_legend(figure, [panel for axes in grid for panel in axes])
    return figure


def top_sheet(best: pd.DataFrame, titles: Mapping[str, str]) -> Figure:
    """Draw bars of the top throughput of each topology, one for each test case."""
    figure, [[axes]] = panes(1, 1, 0.7 + 0.24 * len(best) + 0.12 * best["label"].nunique())
    panels.tops(best, titles, axes)
    return figure


def ratio_sheet(
    comparison: pd.DataFrame,
    names: Sequence[str] = (),
    label: Callable[[Mapping[Any, Any]], str] = point_label,
    quotient: str = "B / A",
) -> Figure:
    """Draw ratios with points as rows, and a panel for each figure, or each of ``names``."""
    figures = comparison["figure"]
    shown = [name for name in names or figures.unique() if figures.eq(name).any()]
    rows = comparison[figures.isin(shown)]
    row_labels = [as_lines(label(row)) for row in rows.to_dict("records")]
    most_rows = rows.groupby("figure").size().max()
    figure, [axes] = panes(len(shown), 1, height_of_rows(most_rows, row_labels))
    for name, panel in zip(shown, axes, strict=True):
        ratios(comparison, panel, figure=name, label=label, quotient=quotient)
    for panel in axes[1:]:
        panel.tick_params(labelleft=False)
    return figure


def factor_sheet(factors: pd.DataFrame) -> Figure:
    """Draw factors of conditions on mean latency and throughput, by layout if there are several."""
    names = ("latency_mean_s", "throughput_msg_s")
    layouts = told_apart(zip(factors["topology"], factors["queues"], strict=True))

    def label(row: Mapping[Any, Any]) -> str:
        layout = layouts[row["topology"], row["queues"]] if len(layouts) > 1 else ""
        return under_condition(row, layout)

    return ratio_sheet(factors, names, label=label, quotient="factor")


def height_of_rows(count: int, labels: Sequence[str]) -> float:
    """Return the height in inches of a panel of so many rows, by the most lines of a label."""
    return 1.0 + count * (0.1 + 0.16 * max(label.count("\n") + 1 for label in labels))


def panes(across: int, down: int, height: float) -> tuple[Figure, list[list[Axes]]]:
    """Create a figure with a grid of panels; ``height`` is that of the figure in inches."""
    figure = _new_figure(height)
    return figure, [list(row) for row in figure.subplots(down, across, squeeze=False)]


def tiles(count: int, most: int, height: float) -> tuple[Figure, list[list[Axes]]]:
    """Create a figure of ``count`` panels, at most ``most`` in a row; ``height`` is of a row."""
    down = ceil(count / most)
    across = ceil(count / down)
    figure, grid = panes(across, down, height * down)
    for unused in range(count, across * down):
        grid[-1][unused % across].set_visible(False)
    return figure, grid


def level(grid: Sequence[Sequence[Axes]]) -> None:
    """Give the panels of each column the same y limits, so that they compare."""
    for column in zip(*grid, strict=True):
        drawn = [panel for panel in column if panel.has_data()]
        if len(drawn) > 1:
            limits = [panel.get_ylim() for panel in drawn]
            for panel in drawn:
                panel.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))


def _new_figure(height: float) -> Figure:
    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.1, wspace=0.05)
    return Figure(figsize=(WIDTH, height), facecolor=PAPER.light, layout=layout)


def multiples(
    headings: Sequence[str], count: int, height: float = HEIGHT
) -> tuple[Figure, list[list[Axes]]]:
    """Create a sheet with a row of ``count`` panels for each of several headings."""
    if len(headings) == 1:
        return panes(count, 1, height)
    figure = _new_figure((height + HEADING) * len(headings))
    rows = figure.subfigures(len(headings), 1, squeeze=False)[:, 0]
    for row, heading in zip(rows, headings, strict=True):
        row.set_facecolor(PAPER.light)
        row.suptitle(as_text(heading), x=0.01, horizontalalignment="left", color=INK.light)
    return figure, [list(row.subplots(1, count, squeeze=False)[0]) for row in rows]


def one_legend(figure: Figure, panels: Sequence[Axes], columns: int = 2) -> None:
    """Add a legend of all panels below them, unless it would have a single entry."""
    handles = {
        label: handle
        for panel in panels
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    if len(handles) > 1:
        across = fitting([*handles], columns, of_all=True)
        rows = ceil(len(handles) / across)
        figure.set_figheight(figure.get_figheight() + ROW * max(0, rows - ROWS))
        look: dict[str, Any] = {"frameon": False, "fontsize": 9, "labelcolor": INK.light}
        layout: dict[str, Any] = {"loc": "outside lower left", "ncols": across, "handlelength": 3}
        figure.legend(handles.values(), handles, **layout, **look)


def without_legend(axes: Axes, title: str) -> None:
    """Remove the legend of a panel, and put the title in its place."""
    for key in [*axes.artists]:
        key.remove()
    look: dict[str, Any] = {"color": INK.light, "fontsize": 10, "fontweight": "bold"}
    axes.set_title(title, loc="left", pad=8, y=1.0, **look)

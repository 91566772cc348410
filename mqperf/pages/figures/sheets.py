"""Sheets: panels side by side on one ``Figure``, sharing what they are drawn against.

What varies beyond a panel's x and colours is shown as small multiples: a row of panels for each
value, with the same heights.
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
"""Rows of a legend that there is room for below panels, and what each further one adds."""

MOST_ACROSS = 2
"""Panels beside each other whose legends have a line for each point."""

METRICS: Mapping[str, Callable[..., Axes]] = {
    "throughput": panels.throughput,
    "latency": panels.latency,
    "cpu": panels.broker_cpu,
    "cpu_per_message": panels.cpu_per_message,
}
"""What can be drawn of a sweep by itself."""

HEADING = 0.3
"""Height of the words above each of several rows."""


def sweep_sheet(
    points: pd.DataFrame,
    *,
    doubted: Collection[str] = (),
    saturation_points: pd.DataFrame | None = None,
    system: str = "",
    stream: str = "",
) -> Figure:
    """Throughput | latency | CPU of a sweep; what was not measured has no panel."""
    measured = [
        name for name in ("latency_mean_s", "cpu_total_cores") if points[name].notna().any()
    ]
    parts = dict(split(points, arranged(points).rest))
    figure, grid = multiples(list(parts), 1 + len(measured))
    for part, axes in zip(parts.values(), grid, strict=True):
        panels.throughput(part, axes[0], doubted=doubted, saturation_points=saturation_points)
        rest = iter(axes[1:])
        if "latency_mean_s" in measured:
            panels.latency(part, next(rest), doubted=doubted, subject=stream, named=False)
        if "cpu_total_cores" in measured:
            panels.broker_cpu(part, next(rest), doubted=doubted, subject=system, named=False)
    level(grid)
    return figure


def count_sheet(messages: pd.DataFrame) -> Figure:
    """Messages counted | messages that went wrong, of every run."""
    parts = dict(split(messages, arranged(messages).beside_x))
    figure, grid = multiples(list(parts), 2)
    for part, (counted, wrong) in zip(parts.values(), grid, strict=True):
        panels.message_count(part, counted)
        panels.message_faults(part, wrong)
    level(grid)
    return figure


def percentile_sheet(rows: pd.DataFrame, *, stream: str = "") -> Figure:
    """Latency by percentile, a line for each value on x; a panel for each of what else varies."""
    parts = dict(split(rows, arranged(rows).beside_x))
    figure, grid = tiles(len(parts), MOST_ACROSS, HEIGHT)
    panels_of = [panel for row in grid for panel in row]
    for (word, part), axes in zip(parts.items(), panels_of, strict=False):
        percentiles(part, axes, subject=stream, title=word, among=rows)
        if len(parts) > 1:
            without_legend(axes, axes.get_title(loc="left"))
    level([[panel] for panel in panels_of[: len(parts)]])
    if len(parts) > 1:
        one_legend(figure, panels_of, columns=3)
    return figure


def metric_sheet(points: pd.DataFrame, metric: str, *, doubted: Collection[str] = ()) -> Figure:
    """One of the ``METRICS`` of a sweep."""
    parts = dict(split(points, arranged(points).rest))
    figure, grid = multiples(list(parts), 1)
    for part, (axes,) in zip(parts.values(), grid, strict=True):
        METRICS[metric](part, axes, doubted=doubted)
    level(grid)
    return figure


def node_sheet(cpu: pd.DataFrame) -> Figure:
    """CPU of each broker node."""
    parts = dict(split(cpu, arranged(cpu).beside_x))
    figure, grid = multiples(list(parts), 1, HEIGHT + 0.2)
    for part, (axes,) in zip(parts.values(), grid, strict=True):
        panels.node_cpu(part, axes)
    level(grid)
    return figure


def time_sheet(intervals: pd.DataFrame, outages: pd.DataFrame) -> Figure:
    """Throughput of every run, second by second, and when actions of the plan went on.

    Conditions with actions of their own have panels of their own.
    """
    conditions = _disturbed_alone(intervals, outages)
    beside = [name for name in arranged(intervals).beside_x if name not in conditions]
    parts = dict(split(intervals, [*beside, *conditions]))
    figure, grid = multiples(list(parts), 1, HEIGHT - 0.4)
    for part, (axes,) in zip(parts.values(), grid, strict=True):
        of_part = outages[outages["run"].isin(part["run"])]
        panels.over_time(part, axes, of_part, among=intervals)
    level(grid)
    return figure


def _disturbed_alone(intervals: pd.DataFrame, outages: pd.DataFrame) -> list[str]:
    """The condition, where several of them have actions: the times of these differ."""
    if "condition" not in intervals.columns:
        return []
    disturbed = intervals[intervals["run"].isin(outages["run"])]
    return ["condition"] if len(disturbed["condition"].unique()) > 1 else []


def topology_sheet(
    points: pd.DataFrame, titles: Mapping[str, str], *, doubted: Collection[str] = ()
) -> Figure:
    """Topologies compared: a panel for each test case, named by ``titles``; one legend."""
    cases = [case for case in titles if (points["test_case"] == case).any()]
    parts = dict(split(points, arranged(points).beside_x))
    figure, grid = multiples(list(parts), len(cases), HEIGHT + 0.6)
    for part, axes in zip(parts.values(), grid, strict=True):
        for case, panel in zip(cases, axes, strict=True):
            panels.topologies(where(part, test_case=case), panel, doubted=doubted)
            heading = in_unit(panel.get_title(loc="left"), unit_of(case))
            without_legend(panel, f"{titles[case]} {heading}")
    level(grid)
    one_legend(figure, [panel for axes in grid for panel in axes])
    return figure


def top_sheet(best: pd.DataFrame, titles: Mapping[str, str]) -> Figure:
    """Bars of the top throughput of each topology, one for each test case."""
    figure, [[axes]] = panes(1, 1, 0.7 + 0.24 * len(best) + 0.12 * best["label"].nunique())
    panels.tops(best, titles, axes)
    return figure


def ratio_sheet(
    comparison: pd.DataFrame,
    names: Sequence[str] = (),
    label: Callable[[Mapping[Any, Any]], str] = point_label,
    quotient: str = "B / A",
) -> Figure:
    """Ratios: a panel for each figure, of these ``names`` where any are given, points as rows."""
    figures = comparison["figure"]
    shown = [name for name in names or figures.unique() if figures.eq(name).any()]
    rows = comparison[figures.isin(shown)]
    beside = [as_lines(label(row)) for row in rows.to_dict("records")]
    most = rows.groupby("figure").size().max()
    figure, [axes] = panes(len(shown), 1, height_of_rows(most, beside))
    for name, panel in zip(shown, axes, strict=True):
        ratios(comparison, panel, figure=name, label=label, quotient=quotient)
    for panel in axes[1:]:
        panel.tick_params(labelleft=False)
    return figure


def factor_sheet(factors: pd.DataFrame) -> Figure:
    """Factors of conditions, of mean latency and of throughput; of several layouts with these."""
    names = ("latency_mean_s", "throughput_msg_s")
    layouts = told_apart(zip(factors["topology"], factors["queues"], strict=True))

    def label(row: Mapping[Any, Any]) -> str:
        words = layouts[row["topology"], row["queues"]] if len(layouts) > 1 else ""
        return under_condition(row, words)

    return ratio_sheet(factors, names, label=label, quotient="factor")


def height_of_rows(count: int, labels: Sequence[str]) -> float:
    """That of a panel of so many rows, with room for the lines of the longest of their labels."""
    return 1.0 + count * (0.1 + 0.16 * max(label.count("\n") + 1 for label in labels))


def panes(across: int, down: int, height: float) -> tuple[Figure, list[list[Axes]]]:
    """A figure of so many panels beside and below each other; ``height`` is that of all."""
    figure = _paper(height)
    return figure, [list(row) for row in figure.subplots(down, across, squeeze=False)]


def tiles(count: int, most: int, height: float) -> tuple[Figure, list[list[Axes]]]:
    """A figure of so many panels, at most so many beside each other; ``height`` is of each row."""
    down = ceil(count / most)
    across = ceil(count / down)
    figure, grid = panes(across, down, height * down)
    for place in range(count, across * down):
        grid[-1][place % across].set_visible(False)
    return figure, grid


def level(grid: Sequence[Sequence[Axes]]) -> None:
    """The same heights for panels below each other, so that they compare."""
    for panels_below in zip(*grid, strict=True):
        drawn = [panel for panel in panels_below if panel.has_data()]
        if len(drawn) > 1:
            ends = [panel.get_ylim() for panel in drawn]
            for panel in drawn:
                panel.set_ylim(min(low for low, _ in ends), max(high for _, high in ends))


def _paper(height: float) -> Figure:
    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.1, wspace=0.05)
    return Figure(figsize=(WIDTH, height), facecolor=PAPER.light, layout=layout)


def multiples(
    words: Sequence[str], count: int, height: float = HEIGHT
) -> tuple[Figure, list[list[Axes]]]:
    """A sheet with a row of panels for each part of a sweep, headed by its words."""
    if len(words) == 1:
        return panes(count, 1, height)
    figure = _paper((height + HEADING) * len(words))
    rows = figure.subfigures(len(words), 1, squeeze=False)[:, 0]
    for row, word in zip(rows, words, strict=True):
        row.set_facecolor(PAPER.light)
        row.suptitle(as_text(word), x=0.01, horizontalalignment="left", color=INK.light)
    return figure, [list(row.subplots(1, count, squeeze=False)[0]) for row in rows]


def one_legend(figure: Figure, panels: Sequence[Axes], columns: int = 2) -> None:
    """Below all panels what is in any of them; nothing for a single line."""
    handles = {
        label: handle
        for panel in panels
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    if len(handles) > 1:
        across = fitting([*handles], columns, of_all=True)
        figure.set_figheight(
            figure.get_figheight() + ROW * max(0, -(-len(handles) // across) - ROWS)
        )
        words: dict[str, Any] = {"frameon": False, "fontsize": 9, "labelcolor": INK.light}
        place: dict[str, Any] = {"loc": "outside lower left", "ncols": across, "handlelength": 3}
        figure.legend(handles.values(), handles, **place, **words)


def without_legend(axes: Axes, title: str) -> None:
    """Let the title stand where the legend was, which is elsewhere."""
    for key in [*axes.artists]:
        key.remove()
    look: dict[str, Any] = {"color": INK.light, "fontsize": 10, "fontweight": "bold"}
    axes.set_title(title, loc="left", pad=8, y=1.0, **look)

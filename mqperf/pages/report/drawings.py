"""Drawings: each figure of a report with its file name, caption, and alternative text."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib.text
import pandas as pd
from matplotlib.figure import Figure

from mqperf.pages import figures
from mqperf.pages.figures.marks import as_text
from mqperf.pages.report.rst import Text, image, slug
from mqperf.pages.report.words import Layout, cell, joined, three_figures
from mqperf.plan.columns import COLUMNS
from mqperf.plan.test_cases import MESSAGES, TEST_CASES, in_unit
from mqperf.study.stats.compare import kinds_by_point
from mqperf.study.stats.sustained import best_first
from mqperf.study.tables import Tables, arranged, at, over_repeats
from mqperf.study.tables.axis_words import called

APART = "apart"
"""CSS class of drawings in a folder of their own, which a single file may leave out."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure to be written beside the page that shows it, or into a subfolder."""

    caption: str
    alt: str
    draw: Callable[[], Figure]
    unit: str = MESSAGES
    kept: Sequence[str] = ()
    folder: str = ""

    def counting(self, unit: str, kept: Sequence[str] = ()) -> "Drawing":
        """Return the drawing in the unit of a test case; names in ``kept`` stay as they are."""
        return replace(self, alt=in_unit(self.alt, unit, kept), unit=unit, kept=kept)

    @property
    def name(self) -> Text:
        """File name without its suffix."""
        return slug(self.caption)

    @property
    def rst(self) -> Text:
        """The RST directive that shows it."""
        if not self.folder:
            return image(self.name, self.alt)
        return image(Text(f"{self.folder}/") + self.name, self.alt, APART)

    def figure(self) -> Figure:
        """Draw it, in the unit of its test case."""
        return counting(self.draw(), self.unit, self.kept)

    def picture(self) -> str:
        """Draw it as an HTML element that needs no file."""
        return figures.as_picture(self.figure(), self.alt)

    _repr_html_ = picture

    def write(self, folder: Path) -> None:
        """Write it as SVG into the folder of the page."""
        path = folder / self.folder / f"{self.name}.svg"
        path.parent.mkdir(parents=True, exist_ok=True)
        figures.write_svg(self.figure(), path, title=self.caption, description=self.alt)


def counting(figure: Figure, unit: str, kept: Sequence[str] = ()) -> Figure:
    """Replace messages by the unit of a test case in all texts; names in ``kept`` stay."""
    if unit != MESSAGES:
        names = [*kept, *map(as_text, kept)]
        for text in figure.findobj(matplotlib.text.Text):
            text.set_text(in_unit(text.get_text(), unit, names))
        for element in figure.findobj(lambda artist: bool(artist.get_gid())):
            element.set_gid(in_unit(str(element.get_gid()), unit, kept))
    return figure


def counts(caption: str, rows: pd.DataFrame) -> Drawing:
    """Return the drawing of message counts and of faulty messages."""
    ranges = [
        f"{COLUMNS[name].label} {_range(rows, name)}" for name in ("sent", "received", "lost")
    ]
    alt = f"Messages against {_axes(rows)}: {', '.join(ranges)}."
    return Drawing(caption, alt, partial(figures.count_sheet, rows))


def sweep(
    caption: str, layout: Layout, test_case: str, rows: pd.DataFrame, tables: Tables
) -> Drawing:
    """Return the drawing of throughput with saturation point and peak, latency and CPU of a sweep.

    Doubted points are hollow.
    """
    stream = TEST_CASES[test_case].finish.latency
    names = {
        "throughput_msg_s": "throughput",
        "latency_mean_s": f"{stream} latency",
        "cpu_total_cores": f"{layout.system_title} CPU",
    }
    ranges = [
        f"{name} {_range(rows, column, COLUMNS[column].shown)}"
        for column, name in names.items()
        if rows[column].notna().any()
    ]
    alt = f"{TEST_CASES[test_case].title} against {_axes(rows)}: {'; '.join(ranges)}."
    alt += f" {_peak(rows, tables)}"
    return Drawing(
        caption,
        alt.strip(),
        partial(
            figures.sweep_sheet,
            rows,
            doubted=kinds_by_point(tables),
            saturation_points=tables[
                "saturation_rates" if arranged(rows).x == "rate_msg_s" else "saturation_points"
            ],
            system=layout.system_title,
            stream=stream,
        ),
    )


def percentiles(caption: str, rows: pd.DataFrame, stream: str) -> Drawing:
    """Return the drawing of latency by percentile, up to where there are enough messages."""
    means = figures.common(rows)
    curves = [
        f"{at(curve.iloc[0].to_dict(), arranged(rows).names)} {_tail(curve)}"
        for _, curve in means.groupby("point", sort=False)
    ]
    alt = f"Percentiles of {stream} latency: {'; '.join(curves)}."
    return Drawing(caption, alt, partial(figures.percentile_sheet, rows, stream=stream))


def _tail(curve: pd.DataFrame) -> str:
    """Format the lowest and the highest percentile: ``p50 0.4 ms, p99.9 2.1 ms``."""
    ends = curve.sort_values("percentile").iloc[[0, -1]]
    return ", ".join(
        f"p{row['percentile'] * 100:.7g} {row['latency_s'] * 1e3:.1f} ms"
        for row in ends.to_dict("records")
    )


def nodes(caption: str, cpu: pd.DataFrame) -> Drawing:
    """Return the drawing of the CPU of each broker node."""
    broker = cpu[(cpu["kind"] == "broker") & (cpu["scope"] == "window")]
    nodes = [
        f"{node} {_range(broker[broker['process'] == node], 'total_cores', '%')}"
        for node in broker["process"].unique()
    ]
    alt = f"Total CPU of each node against {_axes(cpu)}, and its system part: {joined(nodes)}."
    return Drawing(caption, alt, partial(figures.node_sheet, cpu))


def timeline(caption: str, intervals: pd.DataFrame, outages: pd.DataFrame) -> Drawing:
    """Return the drawing of throughput, second by second, with actions of the plan shaded."""
    finished = figures.finished_messages(intervals)
    finished = finished[finished["phase"] == "window"]
    loads = figures.by_load(finished)
    ranges = [f"{name} {_range(rows, 'count', 'msg/sec')}" for name, rows in loads]
    alt = f"Throughput in each second of the measured window: {'; '.join(ranges)}."
    if len(outages):
        alt += " Actions are shaded."
    return Drawing(caption, alt, partial(figures.time_sheet, intervals, outages))


def node_summary(caption: str, metrics: pd.DataFrame) -> Drawing:
    """Return the drawing of waiting messages, memory and garbage collection of the nodes."""
    ranges = []
    for name, (label, rows_of) in figures.INSIDE_PANELS.items():
        if len(values := rows_of(metrics)):
            column = COLUMNS[name]
            maximum = values["value"].max() * column.scale
            ranges.append(f"{label} at most {maximum:.0f} {column.shown or column.unit}")
    alt = f"All nodes together in each second of the measured window: {', '.join(ranges)}."
    return Drawing(caption, alt, partial(figures.inside_sheet, metrics))


def factors(caption: str, rows: pd.DataFrame) -> Drawing:
    """Return the drawing of the factors of each condition on mean latency and throughput."""
    latency = rows[rows["figure"] == "latency_mean_s"]
    each = [f"{row['condition']} {row['ratio']:.2f}" for row in latency.to_dict("records")]
    alt = f"Factors of mean latency and of throughput; of latency: {'; '.join(each)}."
    return Drawing(caption, alt, partial(figures.factor_sheet, rows))


def topologies(
    caption: str, points: pd.DataFrame, best: pd.DataFrame, doubted: set[str]
) -> Drawing:
    """Return the drawing that compares all layouts of a system."""
    alt = f"Throughput against {_axes(points)}; sustained: {_tops(best)}."
    return Drawing(caption, alt, partial(figures.topology_sheet, points, titles(), doubted=doubted))


def tops(caption: str, best: pd.DataFrame) -> Drawing:
    """Return the drawing of the sustained throughput and raw maximum of every layout."""
    alt = f"Sustained throughput: {_tops(best)}."
    return Drawing(caption, alt, partial(figures.top_sheet, best, titles()))


def rates(
    caption: str, rows: pd.DataFrame, rate: str, latency: str, doubted: Collection[str]
) -> Drawing:
    """Return the drawing of ``latency`` by offered ``rate``, averaged over repeats.

    Both are names of columns; a test case is a panel, and doubted points are hollow.
    """
    rows = over_repeats(rows, [latency], rate)
    offered = f"the offered rate, {_range(rows, rate, 'msg/sec')}"
    name = figures.latency_name(latency).capitalize()
    alt = f"{name}, {_range(rows, latency, 'ms')}, against {offered}."
    sheet = partial(figures.rate_sheet, rows, titles(), rate, latency, doubted=doubted)
    return Drawing(caption, alt, sheet)


def contrasts(caption: str, rows: pd.DataFrame, figure: str) -> Drawing:
    """Return the drawing of ratios of a figure; the column ``what`` has what is compared."""
    each = [
        f"{TEST_CASES[row['test_case']].short}, {row['what']}: {row['ratio']:.2f}"
        for row in rows.to_dict("records")
    ]
    alt = f"Ratios of {COLUMNS[figure].label}: {'; '.join(each)}."
    return Drawing(caption, alt, partial(figures.contrast_sheet, rows, figure))


def brackets(
    caption: str, rows: pd.DataFrame, low: str, high: str, interval: tuple[str, str] | None = None
) -> Drawing:
    """Return the drawing of the highest rate kept and the next one; ``what`` is the label."""
    each = [
        f"{row['what']}: {cell(low, row[low])} to {cell(high, row[high])}"
        for row in rows.to_dict("records")
    ]
    alt = f"Offered rates that are kept, and the next ones: {'; '.join(each)}."
    return Drawing(caption, alt, partial(figures.bracket_sheet, rows, low, high, interval))


def around(caption: str, intervals: pd.DataFrame, outages: pd.DataFrame) -> Drawing:
    """Return the drawing of throughput around every kind of action, aligned at its begin."""
    actions = [f"{row['action']} of {row['node']}" for row in outages.to_dict("records")]
    alt = f"Throughput in each second around: {', '.join(dict.fromkeys(actions))}."
    return Drawing(caption, alt, partial(figures.around_sheet, intervals, outages))


def overlaid(caption: str, points: pd.DataFrame, names: Sequence[str]) -> Drawing:
    """Return the drawing of both sets of runs on the same axes; ``points`` have a ``side``."""
    ranges = [
        f"{COLUMNS[name].label} of {side} {_range(rows, name, COLUMNS[name].shown)}"
        for name in names
        for side, rows in points.groupby("side")
    ]
    alt = f"Both sets against {_axes(points)}: {'; '.join(ranges)}."
    return Drawing(caption, alt, partial(figures.overlaid_sheet, points, names))


def titles() -> Mapping[str, str]:
    """Return the short titles of the test cases, in their order."""
    return {name: case.short for name, case in TEST_CASES.items()}


def _tops(best: pd.DataFrame) -> str:
    return "; ".join(
        f"{row['label']}: {TEST_CASES[row['test_case']].short} {_rate(row)}{_remarks(row)}"
        for row in best.to_dict("records")
    )


def _remarks(row: Mapping[Hashable, Any]) -> str:
    """Return whether a top is not sustained, or doubted, in brackets."""
    remarks = (
        [] if row["sustained"] else ["not known to keep up" if row["sound"] else "not sustained"]
    )
    remarks += ["doubted"] if row["doubts"] else []
    return f" ({', '.join(remarks)})" if remarks else ""


def _rate(row: Mapping[Hashable, Any]) -> str:
    return f"{three_figures(row['throughput_msg_s'])} {TEST_CASES[row['test_case']].unit}/sec"


def _peak(rows: pd.DataFrame, tables: Tables) -> str:
    best = best_first(rows, tables)
    if best.empty:
        return ""
    top = best.iloc[0]
    subject = "The sustained throughput" if top["sustained"] else "The highest"
    if not top["sound"]:
        subject = "Every point has a doubt; the highest"
    return f"{subject}, {top['throughput_msg_s']:.1f} msg/sec, is at {top['at']}."


def _axes(rows: pd.DataFrame) -> str:
    """Return the axes of a sheet in words: ``threads``, ``payload and thread count``."""
    names = arranged(rows).names
    return "threads" if names == ("threads",) else joined([called(name) for name in names])


def _range(rows: pd.DataFrame, column: str, unit: str = "") -> str:
    """Format the range of a column in its display unit: ``0``, or ``from 3 to 5 ms``."""
    values = rows[column].dropna().astype(float) * COLUMNS[column].scale
    if values.empty:
        return "not measured"
    digits = 0 if COLUMNS[column].dtype == "Int64" else 1
    low, high = f"{values.min():.{digits}f}", f"{values.max():.{digits}f}"
    return f"{low if low == high else f'from {low} to {high}'} {unit}".rstrip()

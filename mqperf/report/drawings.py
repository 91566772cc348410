"""Drawings: each picture of a report with its name, its caption, and what it shows in words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from mqperf import figures
from mqperf.columns import COLUMNS
from mqperf.report.rst import Text, image, slug
from mqperf.report.tops import best_first
from mqperf.report.words import Layout, joined, three_figures
from mqperf.tables import Tables, arranged
from mqperf.tables.axis_words import called
from mqperf.test_cases import TEST_CASES


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure to be written beside the page that shows it."""

    caption: str
    alt: str
    draw: Callable[[], Figure]

    @property
    def name(self) -> Text:
        """File name without its suffix."""
        return slug(self.caption)

    @property
    def rst(self) -> Text:
        """The directive that shows it."""
        return image(self.name, self.alt)

    def write(self, folder: Path) -> None:
        """Write it as SVG into the folder."""
        path = folder / f"{self.name}.svg"
        figures.write_svg(self.draw(), path, title=self.caption, description=self.alt)


def counts(caption: str, rows: pd.DataFrame) -> Drawing:
    """Messages counted, and those that went wrong."""
    ranges = [
        f"{COLUMNS[name].label} {_range(rows, name)}" for name in ("sent", "received", "lost")
    ]
    alt = f"Messages against {_axes(rows)}: {', '.join(ranges)}."
    return Drawing(caption, alt, partial(figures.count_sheet, rows))


def sweep(
    caption: str, layout: Layout, test_case: str, rows: pd.DataFrame, tables: Tables
) -> Drawing:
    """Throughput with saturation point and peak, latency and CPU; doubted points are hollow."""
    stream = TEST_CASES[test_case].finish.latency
    names = {
        "throughput_msg_s": "throughput",
        "latency_mean_s": f"{stream} latency",
        "cpu_total_cores": f"{layout.system_title} CPU",
    }
    ranges = [
        f"{name} {_range(rows, column)} {COLUMNS[column].shown}"
        for column, name in names.items()
        if rows[column].notna().any()
    ]
    alt = f"{TEST_CASES[test_case].title} against {_axes(rows)}: {'; '.join(ranges)}."
    alt += f" {_peak(rows, tables['doubts'])}"
    return Drawing(
        caption,
        alt.strip(),
        partial(
            figures.sweep_sheet,
            rows,
            doubted=set(tables["doubts"]["point"]),
            saturation_points=tables["saturation_points"],
            system=layout.system_title,
            stream=stream,
        ),
    )


def nodes(caption: str, cpu: pd.DataFrame) -> Drawing:
    """CPU of each broker node."""
    broker = cpu[(cpu["kind"] == "broker") & (cpu["scope"] == "window")]
    nodes = [
        f"{node} {_range(broker[broker['process'] == node], 'total_cores')} %"
        for node in broker["process"].unique()
    ]
    alt = f"Total CPU of each node against {_axes(cpu)}, and its system part: {joined(nodes)}."
    return Drawing(caption, alt, partial(figures.node_sheet, cpu))


def timeline(caption: str, intervals: pd.DataFrame, outages: pd.DataFrame) -> Drawing:
    """Throughput, second by second, and when actions of the plan went on."""
    finished = figures.finished_messages(intervals)
    finished = finished[finished["phase"] == "window"]
    ranges = []
    for name, rows in figures.by_load(finished):
        ranges.append(f"{name} {_range(rows, 'count')} msg/sec")
    alt = f"Throughput in each second of the measured window: {'; '.join(ranges)}."
    if len(outages):
        alt += " Actions went on where it is shaded."
    return Drawing(caption, alt, partial(figures.time_sheet, intervals, outages))


def topologies(
    caption: str, points: pd.DataFrame, best: pd.DataFrame, doubted: set[str]
) -> Drawing:
    """All layouts of a system compared."""
    alt = f"Throughput against {_axes(points)}; top: {_tops(best)}."
    return Drawing(caption, alt, partial(figures.topology_sheet, points, titles(), doubted=doubted))


def tops(caption: str, best: pd.DataFrame) -> Drawing:
    """The top throughput of every layout."""
    alt = f"Top throughput: {_tops(best)}."
    return Drawing(caption, alt, partial(figures.top_sheet, best, titles()))


def titles() -> Mapping[str, str]:
    """Short names of the test cases, in their order."""
    return {name: words.short for name, words in TEST_CASES.items()}


def _tops(best: pd.DataFrame) -> str:
    return "; ".join(
        f"{row['label']}: {TEST_CASES[row['test_case']].short}"
        f" {three_figures(row['throughput_msg_s'])} msg/sec{' (doubted)' if row['doubts'] else ''}"
        for row in best.to_dict("records")
    )


def _peak(rows: pd.DataFrame, doubts: pd.DataFrame) -> str:
    best = best_first(rows, doubts)
    if best.empty:
        return ""
    top = best.iloc[0]
    words = "The top" if top["sound"] else "Every point is doubted; the highest"
    return f"{words}, {top['throughput_msg_s']:.1f} msg/sec, is at {top['at']}."


def _axes(rows: pd.DataFrame) -> str:
    """What a sheet shows its figures against: ``threads``, ``payload and thread count``."""
    names = arranged(rows).names
    return "threads" if names == ("threads",) else joined([called(name) for name in names])


def _range(rows: pd.DataFrame, column: str) -> str:
    """``0``, or ``from 3 to 5``, in the unit that a person reads."""
    values = rows[column].dropna().astype(float) * COLUMNS[column].scale
    if values.empty:
        return "not measured"
    digits = 0 if COLUMNS[column].dtype == "Int64" else 1
    low, high = f"{values.min():.{digits}f}", f"{values.max():.{digits}f}"
    return low if low == high else f"from {low} to {high}"

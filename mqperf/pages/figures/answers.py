"""Figures of answers: ratios of levels, brackets of rates, throughput around failures."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mqperf.pages.figures import labels, palette
from mqperf.pages.figures.marks import as_lines, as_text, dress, from_zero, rate_axis
from mqperf.pages.figures.panels import finished_messages
from mqperf.pages.figures.sheets import HEIGHT, height_of_rows, panes, ratio_sheet, tiles
from mqperf.pages.figures.told import tell
from mqperf.plan.columns import COLUMNS
from mqperf.plan.test_cases import TEST_CASES

BEFORE_S, AFTER_S = 5.0, 15.0
"""Seconds drawn before an action begins, and after it ends."""

ACROSS = 3

_SMALL: dict[str, Any] = {"fontsize": 8, "color": palette.FAINT.light}
"""Look of a second line below a title."""


def contrast_sheet(rows: pd.DataFrame, figure: str) -> Figure:
    """Draw ratios of a figure with their intervals, one below the other, on an axis around 1."""
    return ratio_sheet(rows, [figure], label=_contrast_label, quotient="ratio")


def bracket_sheet(
    rows: pd.DataFrame, low: str, high: str, interval: tuple[str, str] | None = None
) -> Figure:
    """Draw a dot at the highest rate that is kept, and a line to the next one, which is not.

    ``low``, ``high`` and ``interval`` name columns: both rates, and the ends of a 95 % interval of
    the limit, drawn as a thin line.  The column ``what`` has the label of a row.  Where every rate
    is kept, or none, an arrow points to the rates that were not tried.
    """
    row_labels = [as_lines(subject) for subject in rows["what"]]
    figure, [[axes]] = panes(1, 1, height_of_rows(len(rows), row_labels))
    colour = palette.THROUGHPUT.light
    for y, row in enumerate(rows.to_dict("records")):
        kept, missed = row[low], row[high]
        rates = [f"{COLUMNS[n].label} {row[n]:,.0f}" for n in (low, high) if pd.notna(row[n])]
        if interval is not None and pd.notna(row[interval[0]]):
            axes.plot([row[end] for end in interval], [y] * 2, color=colour, linewidth=1)
        if pd.notna(kept) and pd.notna(missed):
            axes.plot([kept, missed], [y] * 2, color=colour, linewidth=3)
        marker = ">" if pd.isna(missed) else "<" if pd.isna(kept) else "o"
        x = kept if pd.notna(kept) else missed
        (mark,) = axes.plot([x], [y], marker, color=colour, markersize=6)
        tell(mark, [], [f"{row['what']}\n{', '.join(rates)}"])
    axes.set_yticks(range(len(rows)), row_labels)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    title = f"{COLUMNS[low].label}, and the next rate"
    dress(axes, f"{title}; thin: 95 % interval of the limit" if interval else title)
    rate_axis(axes, "rate_msg_s")
    axes.tick_params(axis="y", labelcolor=palette.INK.light)
    return figure


def around_sheet(intervals: pd.DataFrame, outages: pd.DataFrame) -> Figure:
    """Draw throughput in each second around every kind of action, a panel each, on one scale.

    Time 0 is the start of the action; each execution of the action is a line.
    """
    finished = finished_messages(intervals)
    in_order = outages.sort_values(["run", "began_s"])
    next_begin = in_order.groupby("run", sort=False)["began_s"].shift(-1).fillna(np.inf)
    kinds = [*_kinds(outages.assign(next_s=next_begin))]
    figure, grid = tiles(len(kinds), ACROSS, HEIGHT - 0.8)
    panels = [panel for row in grid for panel in row]
    for (title, subtitle, of_kind), axes in zip(kinds, panels, strict=False):
        _around(finished, of_kind, axes, "\n".join(filter(None, [title, subtitle])))
        dress(axes, title)
        axes.annotate(as_text(subtitle), (0, 1), (0, 4), "axes fraction", "offset points", **_SMALL)
        from_zero(axes)
    top = max(axes.get_ylim()[1] for axes in panels[: len(kinds)])
    for axes in panels[: len(kinds)]:
        axes.set_ylim(0, top)
    for row in grid:
        row[0].set_ylabel(COLUMNS["throughput_msg_s"].shown, fontsize=9)
    for axes in grid[-1]:
        axes.set_xlabel("seconds after it began", fontsize=9)
    return figure


def _kinds(outages: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield title, subtitle and rows of each action on a node in a system, test case and layout."""
    keys = ["system", "test_case", "topology", "queues", "action", "node"]
    layouts = labels.told_apart(outages[["topology", "queues"]].itertuples(index=False, name=None))
    for values, of_kind in outages.groupby(keys, sort=False):
        system, case, topology, queues, action, node = map(str, values)
        names = {"system": system, "test_case": TEST_CASES[case].short}
        subtitle = [name for key, name in names.items() if len(outages[key].unique()) > 1]
        subtitle += [layouts[topology, queues]] if len(layouts) > 1 else []
        yield f"{action} of {node}", ", ".join(subtitle), of_kind


def _around(finished: pd.DataFrame, outages: pd.DataFrame, axes: Axes, title: str) -> None:
    downtime_s = outages["downtime_s"].dropna().max()
    if pd.notna(downtime_s):
        axes.axvspan(0, downtime_s, color=palette.ACTION.light, linewidth=0, zorder=0.5)
    for row in outages.to_dict("records"):
        of_run = finished[finished["run"].eq(row["run"])]
        seconds = of_run["start_s"].to_numpy(dtype=float) + 0.5 - row["began_s"]
        shown = (seconds >= -BEFORE_S) & (seconds <= _end(row))
        counts = of_run["count"].to_numpy(dtype=float)
        look: dict[str, Any] = {"color": palette.THROUGHPUT.light, "linewidth": 1.2}
        (line,) = axes.plot(seconds[shown], counts[shown], **look)
        tell(line, [], [f"{title}\n{row['run']}"])


def _end(row: Mapping[Any, Any]) -> float:
    """Return the last second drawn of an action: at most until the next action of the run."""
    downtime_s = row["downtime_s"] if pd.notna(row["downtime_s"]) else 0.0
    return float(min(downtime_s + AFTER_S, row["next_s"] - row["began_s"]))


def _contrast_label(row: Mapping[Any, Any]) -> str:
    return f"{TEST_CASES[row['test_case']].short}, {row['what']}"

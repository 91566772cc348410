"""Comparison of two sets of runs: the ratio of every point, with its interval."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from mqperf.pages.figures import palette
from mqperf.pages.figures.marks import as_lines, as_text, dress, plain
from mqperf.pages.figures.told import tell
from mqperf.plan.columns import COLUMNS, parameters
from mqperf.study.stats.between_rates import BETWEEN
from mqperf.study.stats.compare import WITHIN_RUN
from mqperf.study.tables.axes import SWEEP
from mqperf.study.tables.axis_words import worded
from mqperf.study.tables.places import CONDITION

SHADES = {
    "throughput_msg_s": palette.THROUGHPUT,
    "latency_mean_s": palette.LATENCY,
    "latency_p50_s": palette.LATENCY,
    "latency_p99_s": palette.LATENCY,
    "cpu_per_message_s": palette.CPU,
}
"""Colour of each compared figure."""


MARKED = {WITHIN_RUN, BETWEEN}
"""Kinds of intervals that are not from repeats of runs: marked wherever a ratio is shown."""

ROOM = 1.08
"""Margin beyond the furthest marker or interval, on the log scale, so that no marker is cut off."""

WIDE = 20
"""Ratio from which on only powers of ten have ticks."""


def point_label(row: Mapping[Any, Any]) -> str:
    """Return the label of a row's point: system, test case, layout, threads, parameters."""
    keys = " ".join(str(row[key]) for key in (*SWEEP, "threads") if pd.notna(row[key]))
    return ", ".join([keys, *(worded(name, row[name]) for name in parameters() if name in row)])


def axes_of(comparison: pd.DataFrame) -> list[str]:
    """Return the parameters that are columns of the comparison."""
    return [name for name in parameters() if name in comparison.columns]


def under_condition(row: Mapping[Any, Any], layout: str = "") -> str:
    """Return the label of a row of ``factors``: condition, layout, threads, other parameters."""
    rest = (worded(name, row[name]) for name in parameters() if name in row and name != CONDITION)
    values = [str(row[CONDITION]), layout, worded("threads", row["threads"]), *rest]
    return ", ".join(filter(None, values))


def ratios(
    comparison: pd.DataFrame,
    axes: Axes,
    *,
    figure: str,
    label: Callable[[Mapping[Any, Any]], str] = point_label,
    quotient: str = "B / A",
) -> Axes:
    """Draw B / A of one figure, a row per point, on a log axis; a doubted point is hollow.

    ``label`` returns the label of a row, and ``quotient`` is the title of the axis.  An interval
    from within single runs, or between rates, is dotted; an arrow points to an unbounded side.
    Ratios within the band differ by less than the minimum relevant difference.  The verdicts
    better and worse are written beside their points.
    """
    rows = comparison[comparison["figure"] == figure]
    shade = SHADES.get(figure, palette.INK).light
    for y, row in enumerate(rows.to_dict("records")):
        marker = "<" if row["ratio_low"] == 0 else ">" if row["ratio_high"] == np.inf else "o"
        if marker == "o" and pd.notna(row["ratio_low"]):
            style = ":" if row["interval_kind"] in MARKED else "-"
            ends = [row["ratio_low"], row["ratio_high"]]
            axes.plot(ends, [y] * 2, style, color=shade, linewidth=1.4)
        face = shade if pd.isna(row["doubted"]) else palette.PAPER.light
        (mark,) = axes.plot(
            [row["ratio"]], [y], marker, color=shade, markerfacecolor=face, markersize=5.5
        )
        tell(mark, [], [_hover_text(row, label(row), quotient)])
        if row["verdict"] != "cannot tell":
            xy = row["ratio"], y
            note = axes.annotate(as_text(row["verdict"]), xy, (0, 5), textcoords="offset points")
            note.set(color=palette.INK.light, fontsize=8, horizontalalignment="center")
    if len(rows):
        _ratio_axis(axes, float(rows["min_effect"].iloc[0]))
        axes.set_yticks(range(len(rows)), [as_lines(label(row)) for row in rows.to_dict("records")])
        axes.set_ylim(len(rows) - 0.4, -0.8)
    dress(axes, COLUMNS[figure].label)
    axes.set_xlabel(quotient, fontsize=9)
    axes.grid(visible=False, axis="y")
    axes.grid(axis="x", color=palette.GRID.light, linewidth=0.8)
    axes.tick_params(axis="y", labelcolor=palette.INK.light)
    return axes


def _hover_text(row: Mapping[Any, Any], point: str, quotient: str) -> str:
    """Return point, ratio, interval, verdict and doubts of a row, one per line."""
    lines = [point, f"{quotient} {row['ratio']:.3f}"]
    if pd.notna(row["ratio_low"]):
        name = "95 % interval" if row["interval_kind"] != BETWEEN else BETWEEN
        lines.append(f"{name} {row['ratio_low']:.3f} to {row['ratio_high']:.3f}")
    lines.append(str(row["verdict"]))
    return "\n".join([*lines, *([f"doubts: {row['doubted']}"] if pd.notna(row["doubted"]) else [])])


def _ratio_axis(axes: Axes, min_effect: float) -> None:
    """Scale x symmetrically around 1 on a log axis, at least to 1.25 so that noise looks small."""
    drawn = np.concatenate([np.asarray(line.get_xdata(), dtype=float) for line in axes.lines])
    furthest = max(1.25, float(np.exp(np.abs(np.log(drawn)).max() * ROOM)))
    axes.set_xscale("log")
    axes.set_xlim(1 / furthest, furthest)
    axes.axvspan(1 / (1 + min_effect), 1 + min_effect, color=palette.BOX.light, zorder=0)
    axes.axvline(1, color=palette.FAINT.light, linewidth=1, zorder=1)
    steps = (1, 2, 5) if furthest < WIDE else (1,)
    near = MaxNLocator(5, steps=[1, 2, 5, 10])
    axes.xaxis.set_major_locator(near if furthest < 2 else LogLocator(subs=steps))
    axes.xaxis.set_major_formatter(FuncFormatter(plain))
    axes.xaxis.set_minor_locator(NullLocator())

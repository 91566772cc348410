"""Parts of every panel: lines with intervals and doubts, titles, legends, and axes."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import compress, pairwise
from math import ceil, floor, log10
from textwrap import wrap
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

from mqperf.base.one_line import one_line
from mqperf.pages.figures.key import Key
from mqperf.pages.figures.palette import FAINT, GRID, INK, MARKERS, PAPER, TOPOLOGIES, Shade
from mqperf.pages.figures.told import point_tooltips, tell
from mqperf.plan.columns import COLUMNS

WIDE_SWEEP = 20
"""Ratio of the ends of a sweep from which on it is shown on a log axis."""

NEAREST_TICKS, LETTER = 0.075, 1 / 34
"""Least distance of two tick labels, and width of a letter, as shares of the axis."""

WIDEST_OF_THREE = 1000
"""Ratio of the ends of a log axis above which only powers of ten have labels, not 1, 2 and 5."""

LETTERS_ACROSS, SLANT = 40, 30
"""Letters that fit below an axis; labels that need more are slanted, by this many degrees."""

HEADROOM = 1.06
"""Upper end of an axis from zero, as a multiple of its highest value."""

MARK = 0.03
"""Half the height of a marker, as a share of the axis."""

PLACE = "place"
"""The column with the positions of points on x, in the display unit."""

LONGEST_LABEL = 80
"""Most characters of a label."""

LINE, MOST_LINES = 48, 3
"""Most characters of a line, and most lines, of a label of several lines."""

LEGEND_WIDTH, LEGEND_HANDLE = 140, 7
"""Width of a row of a legend, and of each handle in it, in characters."""

LEGEND_COLUMNS = 3
"""Columns of a legend above a panel that is a third of a sheet wide."""

TITLE_PAD, LEGEND_ROW = 8, 14
"""Distance between a panel and its title, and height of a row of the legend between, in pt."""

_LEGEND: dict[str, Any] = {
    "loc": "lower left",
    "bbox_to_anchor": (-0.02, 0.985),
    "borderaxespad": 0.2,
    "frameon": False,
    "fontsize": 8.5,
    "labelcolor": INK.light,
    "handlelength": 2.8,
    "columnspacing": 1.2,
    "handletextpad": 0.5,
}


@dataclass(frozen=True, slots=True)
class Pen:
    """The look of a line, and the legend entries that name it."""

    shade: Shade
    label: str = ""
    dash: str = "-"
    marker: str = "o"
    entries: tuple[str, ...] = ()

    def numbered(self, number: int, name: str, *, only: bool = False) -> "Pen":
        """Return a pen for one of several lines, with a marker of its own, and a name.

        For the ``only`` pen of a drawing each line has a colour of its own, and its name as label.
        """
        marker = MARKERS[(MARKERS.index(self.marker) + number) % len(MARKERS)]
        if only and name:
            shade = TOPOLOGIES[number % len(TOPOLOGIES)]
            return replace(self, shade=shade, label=name, marker=marker)
        return replace(self, label=", ".join(filter(None, [self.label, name])), marker=marker)

    @property
    def series(self) -> list[str]:
        """The legend entries as they are drawn."""
        return [as_shown(name) for name in self.entries or (self.label,) if name]


def line(
    rows: pd.DataFrame, column: str, axes: Axes, pen: Pen, *, doubted: Collection[str] = ()
) -> None:
    """Draw a column with 95 % intervals, on x at ``PLACE``; doubted points are hollow.

    ``doubted`` may map points to the kinds of their doubts.
    """
    measured = rows[rows[column].notna() & rows[PLACE].notna()].sort_values(PLACE)
    if measured.empty:
        return
    places = measured[PLACE].to_numpy(dtype=float)
    values = shown(measured, column)
    colour = pen.shade.light
    marks: dict[str, Any] = {"marker": pen.marker, "markersize": 5.5, "markeredgewidth": 1.4}
    marks["color"] = colour
    tooltips = point_tooltips(measured, column, doubted)
    # where points share a position a connecting line would be meaningless
    (drawn,) = axes.plot(
        places,
        values,
        linestyle=pen.dash if measured[PLACE].is_unique else "none",
        linewidth=1.8,
        label=as_text(pen.label) if pen.label else "_",
        **marks,
    )
    tell(drawn, pen.series, tooltips)
    _intervals(measured, column, axes, pen)
    hollow = measured["point"].isin(list(doubted)).to_numpy()
    if hollow.any():
        marks |= {"linestyle": "none", "markerfacecolor": PAPER.light, "zorder": 4}
        (over,) = axes.plot(places[hollow], values[hollow], label="_", **marks)
        tell(over, pen.series, list(compress(tooltips, hollow)))


def shown(rows: pd.DataFrame, column: str) -> np.ndarray:
    """Return the values of a column in its display unit."""
    return rows[column].to_numpy(dtype=float, na_value=np.nan) * COLUMNS[column].scale


def _intervals(rows: pd.DataFrame, column: str, axes: Axes, pen: Pen) -> None:
    low, high = f"{column}_low", f"{column}_high"
    if low not in rows or not rows[low].notna().any():
        return
    known = rows[rows[low].notna()]
    bottoms = np.maximum(known[low].to_numpy(dtype=float) * COLUMNS[column].scale, 0)
    tops = known[high].to_numpy(dtype=float) * COLUMNS[column].scale
    x = known[PLACE].to_numpy(dtype=float)
    bars = axes.vlines(x, bottoms, tops, color=pen.shade.light, linewidth=1, alpha=0.7)
    tell(bars, pen.series)


def dress(axes: Axes, title: str, *, legend_columns: int = 6) -> Axes:
    """Give a panel the common background, grid, title and legend, or a note if it has no data."""
    axes.set_facecolor(PAPER.light)
    rows = _legend(axes, legend_columns)
    pad = TITLE_PAD + LEGEND_ROW * max(rows, 1)
    axes.set_title(
        as_text(title), loc="left", color=INK.light, fontsize=10, fontweight="bold", pad=pad, y=1.0
    )
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(FAINT.light)
    axes.tick_params(colors=FAINT.light, labelsize=9, length=3)
    axes.tick_params(axis="y", length=0, left=False)
    axes.xaxis.label.set_color(FAINT.light)
    axes.grid(axis="y", color=GRID.light, linewidth=0.8)
    axes.set_axisbelow(True)
    if not axes.has_data():
        note = axes.text(0.5, 0.5, "no data", color=FAINT.light, transform=axes.transAxes)
        note.set(horizontalalignment="center", verticalalignment="center")
    return axes


def as_text(text: str) -> str:
    """Escape a text for matplotlib: no formulas, and no leading ``_``, which hides a label."""
    label = one_line(text, LONGEST_LABEL).replace("$", r"\$")
    return f"\N{ZERO WIDTH SPACE}{label}" if label.startswith("_") else label


def as_lines(text: str) -> str:
    """Escape a text likewise, and wrap it between words."""
    line_text = one_line(text, LINE * MOST_LINES)
    return "\n".join(map(as_text, wrap(line_text, LINE, break_on_hyphens=False)))


def as_shown(text: str) -> str:
    """Return the text as ``as_text`` makes it appear in the drawing."""
    return as_text(text).replace(r"\$", "$")


def _legend(axes: Axes, columns: int) -> int:
    """Add a legend above the panel, and return its number of rows; a single line has none."""
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) < 2:
        return 0
    across = fitting(labels, columns)
    axes.add_artist(Key(axes, handles, labels, ncols=across, **_LEGEND)).set_in_layout(False)
    return ceil(len(labels) / across)


def head_points(axes: Axes, columns: int) -> int:
    """Return the height in pt of title and legend above a panel dressed with these columns."""
    _, labels = axes.get_legend_handles_labels()
    rows = ceil(len(labels) / fitting(labels, columns)) if len(labels) > 1 else 1
    return TITLE_PAD + LEGEND_ROW * (rows + 1)


def fitting(labels: Sequence[str], columns: int, *, of_all: bool = False) -> int:
    """Return how many of these legend columns fit above a panel, or ``of_all`` below a figure."""
    width = LEGEND_WIDTH // 3 if columns == LEGEND_COLUMNS and not of_all else LEGEND_WIDTH
    return min(columns, max(1, width // (max(map(len, labels)) + LEGEND_HANDLE)))


def _x_values(axes: Axes) -> list[float]:
    """Return the distinct x values of all lines in ascending order."""
    return sorted({float(x) for drawn in axes.lines for x in np.asarray(drawn.get_xdata())})


def sweep_axis(axes: Axes, name: str, texts: Sequence[str] = ()) -> None:
    """Put ticks at the measured values, or at all ``texts``; a wide sweep has a log axis."""
    places = _x_values(axes)
    axes.set_xlabel(COLUMNS[name].heading(), fontsize=9)
    if texts:
        axes.set_xticks(range(len(texts)), [as_text(text) for text in texts])
        if crowded(texts, LETTERS_ACROSS):
            slant(axes)
        axes.set_xlim(-0.5, len(texts) - 0.5)
        return
    if not places:
        return
    wide = places[0] > 0 and places[-1] / places[0] >= WIDE_SWEEP
    if wide:
        axes.set_xscale("log")
    scale: Callable[[float], float] = log10 if wide else float
    axes.xaxis.set_major_locator(FixedLocator(_labelled(places, scale)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(plain))


FEW_TICKS = 6
NARROW = 5
"""Ratio of the ends of a log axis below which ticks at 1, 2 and 5 times 10**n are too few."""


def rate_axis(axes: Axes, name: str) -> None:
    """Draw rates on a log axis with round ticks, as rates of steps and searches are not round.

    A few rates that are near each other have ticks of their own, with three digits.
    """
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    rates = sorted({float(f"{rate:.3g}") for rate in _x_values(axes)})
    few = 0 < len(rates) <= FEW_TICKS
    narrow = FixedLocator(_labelled(rates, log10)) if few else MaxNLocator(FEW_TICKS)
    axes.xaxis.set_major_locator(narrow if high < NARROW * low else LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(plain))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(COLUMNS[name].heading(), fontsize=9)


def crowded(texts: Sequence[str], letters: float) -> bool:
    """Return whether evenly spaced labels overlap on an axis with room for so many letters."""
    room = letters / max(len(texts), 1)
    return any((len(left) + len(right)) / 2 + 1 > room for left, right in pairwise(texts))


def slant(axes: Axes) -> None:
    """Slant the tick labels below a panel."""
    for label in axes.get_xticklabels():
        label.set(rotation=SLANT, horizontalalignment="right", rotation_mode="anchor")


def _labelled(values: list[float], scale: Callable[[float], float]) -> list[float]:
    """Return the ascending values whose tick labels do not overlap; the largest always has one."""
    span = scale(values[-1]) - scale(values[0])
    kept: list[float] = []
    for value in reversed(values):
        if not kept or scale(kept[-1]) - scale(value) >= _room(value, kept[-1]) * span:
            kept.append(value)
    return kept[::-1]


def _room(left: float, right: float) -> float:
    """Return the least distance of the centres of two adjacent labels, as a share of the axis."""
    letters = (len(plain(left)) + len(plain(right))) / 2
    return max(NEAREST_TICKS, (letters + 1) * LETTER)


def from_zero(axes: Axes) -> None:
    """Make y a linear axis that includes zero, so that heights compare."""
    bottom, top = axes.get_ylim()
    if axes.has_data():
        # matplotlib's margin is tiny where values hardly differ: markers would be cut off
        top = max(top, axes.dataLim.y1 * HEADROOM, 1e-9)
        axes.set_ylim(min(bottom, 0) if axes.dataLim.y0 < 0 else 0, top)
    axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_formatter(FuncFormatter(plain))


def log_scale(axes: Axes) -> None:
    """Make y a log axis that starts and ends at round values: 1, 2, 5, 10, ..."""
    heights = np.array([y for drawn in axes.lines for y in np.asarray(drawn.get_ydata())])
    positive = heights[heights > 0]
    if not positive.size:
        return
    axes.set_yscale("log")
    least, most = positive.min(), positive.max()
    room = max(1.05, (most / least) ** MARK)  # else a marker at an end would be cut off
    low, high = _round(least / room, down=True), _round(most * room)
    axes.set_ylim(low, high)
    subs = (1, 2, 5) if high <= WIDEST_OF_THREE * low else (1,)
    axes.yaxis.set_major_locator(LogLocator(subs=subs, numticks=99))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(plain))


def _round(value: float, *, down: bool = False) -> float:
    """Return the next of 1, 2, 5, 10, 20, ... at or above the value, or at or below (``down``)."""
    power = 10.0 ** floor(log10(value))
    steps = [step * power for step in (1, 2, 5, 10)]
    if down:
        return max(step for step in steps if step <= value * (1 + 1e-9))
    return min(step for step in steps if step >= value * (1 - 1e-9))


def plain(value: float, _position: int | None = None) -> str:
    """Format a tick label: ``0.5``, or ``12 000`` with a narrow space, never ``1e4``."""
    text = f"{value:.6g}" if abs(value) < 1 else f"{round(value, 3):,.10g}"
    return text.replace(",", "\N{NARROW NO-BREAK SPACE}")

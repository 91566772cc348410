"""What every panel is made of: a line with its intervals and doubts, and axes that read well."""

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
from mqperf.pages.figures.told import of_points, tell
from mqperf.plan.columns import COLUMNS

WIDE_SWEEP = 20
"""A sweep whose ends are further apart than this is shown on a log axis."""

NEAREST_TICKS, LETTER = 0.075, 1 / 34
"""Share of the axis below which two values are too near for two tick labels, and of a letter."""

WIDEST_OF_THREE = 1000
"""An axis that goes further than this has labels at powers of ten only, not at 1, 2 and 5."""

LETTERS_ACROSS, SLANT = 40, 30
"""Room for letters below an axis; names that need more stand slanted, by so many degrees."""

HEADROOM = 1.06
"""How far an axis from zero goes above its highest value."""

MARK = 0.03
"""Half the height of a mark, as a share of the axis."""

PLACE = "place"
"""The column that has the places of points on x, in the unit that a person reads."""

LONGEST_LABEL = 80
"""Characters of a label that there is room for."""

LINE, MOST_LINES = 48, 3
"""The same of a line of a label that may have several."""

LEGEND_WIDTH, LEGEND_HANDLE = 140, 7
"""Characters beside each other in a legend, and what each handle takes of them."""

LEGEND_COLUMNS = 3
"""As many entries of a legend as stand side by side above a third of a sheet."""

TITLE_PAD, LEGEND_ROW = 8, 14
"""Points between a panel and its title, and what each row of the legend between them adds."""

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
    """How a line looks, and by which entries of the legend it is known."""

    shade: Shade
    label: str = ""
    dash: str = "-"
    marker: str = "o"
    entries: tuple[str, ...] = ()

    def numbered(self, number: int, name: str, *, only: bool = False) -> "Pen":
        """That of one of the lines which it stands for: with a marker of its own, and a name.

        The ``only`` pen of a drawing gives each a colour instead of its label.
        """
        marker = MARKERS[(MARKERS.index(self.marker) + number) % len(MARKERS)]
        if only and name:
            shade = TOPOLOGIES[number % len(TOPOLOGIES)]
            return replace(self, shade=shade, label=name, marker=marker)
        return replace(self, label=", ".join(filter(None, [self.label, name])), marker=marker)

    @property
    def series(self) -> list[str]:
        """These entries as the legend shows them."""
        return [as_shown(name) for name in self.entries or (self.label,) if name]


def line(
    rows: pd.DataFrame, column: str, axes: Axes, pen: Pen, *, doubted: Collection[str] = ()
) -> None:
    """Draw a column at the places of its points, with 95 % intervals; doubted points are hollow.

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
    texts = of_points(measured, column, doubted)
    # where points share a place no line would mean anything
    (drawn,) = axes.plot(
        places,
        values,
        linestyle=pen.dash if measured[PLACE].is_unique else "none",
        linewidth=1.8,
        label=as_text(pen.label) if pen.label else "_",
        **marks,
    )
    tell(drawn, pen.series, texts)
    _intervals(measured, column, axes, pen)
    hollow = measured["point"].isin(list(doubted)).to_numpy()
    if hollow.any():
        marks |= {"linestyle": "none", "markerfacecolor": PAPER.light, "zorder": 4}
        (over,) = axes.plot(places[hollow], values[hollow], label="_", **marks)
        tell(over, pen.series, list(compress(texts, hollow)))


def shown(rows: pd.DataFrame, column: str) -> np.ndarray:
    """The column's values in the unit that a person reads."""
    return rows[column].to_numpy(dtype=float, na_value=np.nan) * COLUMNS[column].scale


def _intervals(rows: pd.DataFrame, column: str, axes: Axes, pen: Pen) -> None:
    low, high = f"{column}_low", f"{column}_high"
    if low not in rows or not rows[low].notna().any():
        return
    given = rows[rows[low].notna()]
    bottoms = np.maximum(given[low].to_numpy(dtype=float) * COLUMNS[column].scale, 0)
    tops = given[high].to_numpy(dtype=float) * COLUMNS[column].scale
    places = given[PLACE].to_numpy(dtype=float)
    bars = axes.vlines(places, bottoms, tops, color=pen.shade.light, linewidth=1, alpha=0.7)
    tell(bars, pen.series)


def dress(axes: Axes, title: str, *, legend_columns: int = 6) -> Axes:
    """The same paper, grid, title and legend for every panel; says so when there is no data."""
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
    """The text as matplotlib shows it to the letter: no formula, and not hidden from the legend."""
    label = one_line(text, LONGEST_LABEL).replace("$", r"\$")
    return f"\N{ZERO WIDTH SPACE}{label}" if label.startswith("_") else label


def as_lines(text: str) -> str:
    """The same on as many lines as it needs, broken between words."""
    return "\n".join(
        map(as_text, wrap(one_line(text, LINE * MOST_LINES), LINE, break_on_hyphens=False))
    )


def as_shown(text: str) -> str:
    """The text as it stands in the drawing."""
    return as_text(text).replace(r"\$", "$")


def _legend(axes: Axes, columns: int) -> int:
    """Write the legend above the panel, and say how many rows it takes; none for a single line."""
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) < 2:
        return 0
    across = fitting(labels, columns)
    axes.add_artist(Key(axes, handles, labels, ncols=across, **_LEGEND)).set_in_layout(False)
    return ceil(len(labels) / across)


def head_points(axes: Axes, columns: int) -> int:
    """Height of title and legend above a panel that was dressed with so many legend columns."""
    _, labels = axes.get_legend_handles_labels()
    rows = ceil(len(labels) / fitting(labels, columns)) if len(labels) > 1 else 1
    return TITLE_PAD + LEGEND_ROW * (rows + 1)


def fitting(labels: Sequence[str], columns: int, *, of_all: bool = False) -> int:
    """As many columns of a legend as there is room for: of a panel, or ``of_all`` of a figure."""
    width = LEGEND_WIDTH // 3 if columns == LEGEND_COLUMNS and not of_all else LEGEND_WIDTH
    return min(columns, max(1, width // (max(map(len, labels)) + LEGEND_HANDLE)))


def _places(axes: Axes) -> list[float]:
    """Where on the axis from left to right anything was measured."""
    return sorted({float(x) for drawn in axes.lines for x in np.asarray(drawn.get_xdata())})


def sweep_axis(axes: Axes, name: str, texts: Sequence[str] = ()) -> None:
    """Ticks at the values that were measured; a log axis for a wide sweep of numbers."""
    places = _places(axes)
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
"""Ratio of the ends of an axis below which ticks at 1, 2 and 5 times a power of ten are too few."""


def rate_axis(axes: Axes, name: str) -> None:
    """Rates in powers of ten, with ticks at round ones: those of steps and searches are not.

    A few rates that are near each other have ticks themselves, to three digits.
    """
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    places = sorted({float(f"{place:.3g}") for place in _places(axes)})
    few = len(places) <= FEW_TICKS
    near = FixedLocator(_labelled(places, log10)) if few else MaxNLocator(FEW_TICKS)
    axes.xaxis.set_major_locator(near if high < NARROW * low else LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(plain))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(COLUMNS[name].heading(), fontsize=9)


def crowded(texts: Sequence[str], letters: float) -> bool:
    """Whether names at even distances run into each other where so many letters have room."""
    room = letters / max(len(texts), 1)
    return any((len(left) + len(right)) / 2 + 1 > room for left, right in pairwise(texts))


def slant(axes: Axes) -> None:
    """Have the names below an axis stand slanted."""
    for label in axes.get_xticklabels():
        label.set(rotation=SLANT, horizontalalignment="right", rotation_mode="anchor")


def _labelled(counts: list[float], scale: Callable[[float], float]) -> list[float]:
    """The values whose labels do not run into each other, the largest first of all."""
    span = scale(counts[-1]) - scale(counts[0])
    kept: list[float] = []
    for count in reversed(counts):
        if not kept or scale(kept[-1]) - scale(count) >= _room(count, kept[-1]) * span:
            kept.append(count)
    return kept[::-1]


def _room(left: float, right: float) -> float:
    """Share of the axis that two tick labels beside each other need between their middles."""
    letters = (len(plain(left)) + len(plain(right))) / 2
    return max(NEAREST_TICKS, (letters + 1) * LETTER)


def from_zero(axes: Axes) -> None:
    """A linear axis whose zero is seen, so that heights compare."""
    bottom, top = axes.get_ylim()
    if axes.has_data():
        # values that hardly differ get hardly a margin, and their marks would be cut off
        top = max(top, axes.dataLim.y1 * HEADROOM, 1e-9)
        axes.set_ylim(min(bottom, 0) if axes.dataLim.y0 < 0 else 0, top)
    axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_formatter(FuncFormatter(plain))


def log_scale(axes: Axes) -> None:
    """A log axis from one round value (1, 2, 5, 10, ...) to another."""
    heights = np.array([y for drawn in axes.lines for y in np.asarray(drawn.get_ydata())])
    positive = heights[heights > 0]
    if not positive.size:
        return
    axes.set_yscale("log")
    least, most = positive.min(), positive.max()
    room = max(1.05, (most / least) ** MARK)  # else a mark at the end would be cut off
    low, high = _round(least / room, down=True), _round(most * room)
    axes.set_ylim(low, high)
    subs = (1, 2, 5) if high <= WIDEST_OF_THREE * low else (1,)
    axes.yaxis.set_major_locator(LogLocator(subs=subs, numticks=99))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(plain))


def _round(value: float, *, down: bool = False) -> float:
    """The next of 1, 2, 5, 10, 20, ... at or above the value, or at or below it."""
    power = 10.0 ** floor(log10(value))
    steps = [step * power for step in (1, 2, 5, 10)]
    if down:
        return max(step for step in steps if step <= value * (1 + 1e-9))
    return min(step for step in steps if step >= value * (1 - 1e-9))


def plain(value: float, _position: int | None = None) -> str:
    """A tick label: ``0.5``, or ``12 000`` with a narrow space, never ``1e4``."""
    text = f"{value:.6g}" if abs(value) < 1 else f"{round(value, 3):,.10g}"
    return text.replace(",", "\N{NARROW NO-BREAK SPACE}")

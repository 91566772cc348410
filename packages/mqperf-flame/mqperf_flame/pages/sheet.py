"""Flame graphs: a panel for each process, a box for each function in a stack.

After Brendan Gregg, *The Flame Graph*, Communications of the ACM 59(6), 2016.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from mqperf.pages.figures.marks import as_shown, as_text
from mqperf.pages.figures.palette import ACTION, BOX, GRID, INK, PAPER, Shade
from mqperf.pages.figures.told import tell

WIDTH, ROW, HEADING, LEGEND = 10.0, 0.17, 0.42, 0.4
"""Inches: width of the sheet, and heights of a box, of the title of a panel, and of the legend."""

PANEL_SHARE = 0.98
"""Width of panels, as a share of the sheet's."""

LETTER = 0.065
"""Width of a letter in a box, in inches."""

FONT = 8

NARROWEST = 0.003
"""Share of a process's samples below which a function has no box: 3 of 1,000 pixels."""

MOST, LEAST = 4, 0.05
"""At most so many processes are drawn, each with at least such a share of the busiest one's CPU."""

DEEPEST = 48
"""The most boxes of a stack; deeper calls are not drawn."""

KINDS: tuple[tuple[str, str, Shade], ...] = (
    ("_[k]", "kernel", GRID),
    ("_[j]", "compiled while it ran (Erlang, Java), or of Python", ACTION),
    ("", "program and libraries", BOX),
)
"""Suffix of the name, kind and color of functions; the first match counts."""


@dataclass(frozen=True, slots=True)
class Box:
    """A function in a stack: its depth, its first sample, and its number of samples."""

    name: str
    depth: int
    begin: int
    samples: int


def drawn(stacks: pd.DataFrame) -> list[str]:
    """Return the processes of a run that are drawn."""
    samples = stacks.groupby("process", sort=False)["stack_samples"].sum()
    largest = samples.nlargest(MOST)
    busy = {*largest.index[largest >= LEAST * largest.max()]}
    return [str(process) for process in samples.index if process in busy]


def flame_sheet(stacks: pd.DataFrame) -> Figure:
    """Draw the stacks of a run, with a panel for each process of ``drawn``."""
    boxes_of = {
        process: [*boxes(dict(zip(rows["stack"], rows["stack_samples"], strict=True)))]
        for process in drawn(stacks)
        for rows in [stacks[stacks["process"].eq(process)]]
    }
    depths = [1 + max((box.depth for box in each), default=0) for each in boxes_of.values()]
    heights = [HEADING + ROW * depth for depth in depths]
    top = total = sum(heights) + LEGEND
    figure = Figure(figsize=(WIDTH, total), facecolor=PAPER.light)
    for process, depth, height in zip(boxes_of, depths, heights, strict=True):
        top -= height
        position = ((1 - PANEL_SHARE) / 2, top / total, PANEL_SHARE, ROW * depth / total)
        _panel(figure.add_axes(position), process, boxes_of[process], depth)
    handles = [Patch(color=shade.light, label=kind) for _, kind, shade in KINDS]
    figure.legend(handles=handles, loc="lower left", ncols=len(KINDS), frameon=False, fontsize=8)
    return figure


def boxes(stacks: dict[str, int]) -> Iterator[Box]:
    """Yield the boxes of a process: functions with the same caller are side by side."""
    folded = sorted((stack.split(";")[:DEEPEST], count) for stack, count in stacks.items())
    least = NARROWEST * sum(stacks.values())
    widths: Counter[tuple[str, ...]] = Counter()
    begins: dict[tuple[str, ...], int] = {}
    sample = 0
    for frames, samples in folded:
        for depth in range(1, len(frames) + 1):
            stack = (*frames[:depth],)
            begins.setdefault(stack, sample)
            widths[stack] += samples
        sample += samples
    for stack, samples in widths.items():
        if samples >= least:
            yield Box(stack[-1], len(stack) - 1, begins[stack], samples)


def _panel(axes: Axes, process: str, panel_boxes: Sequence[Box], depth: int) -> None:
    """Draw the boxes of a process, the outermost function at the bottom."""
    total = max((box.begin + box.samples for box in panel_boxes), default=1)
    axes.set_xlim(0, total)
    axes.set_ylim(0, depth)
    axes.set_axis_off()
    axes.set_title(
        f"{as_text(process)}: {total:,} samples", loc="left", fontsize=9, color=INK.light
    )
    for box in panel_boxes:
        suffix, kind, shade = next(each for each in KINDS if box.name.endswith(each[0]))
        name = box.name.removesuffix(suffix)
        mark = Rectangle((box.begin, box.depth), box.samples, 1, lw=0.6)
        mark.set(facecolor=shade.light, edgecolor=PAPER.light)
        axes.add_patch(mark)
        share = f"{100 * box.samples / total:.1f} % of {process}, {box.samples:,} samples"
        tell(mark, [kind], [f"{as_shown(name)}\n{share}"])
        if text := _fitting(name, WIDTH * PANEL_SHARE * box.samples / total):
            axes.text(
                box.begin + 0.003 * total,
                box.depth + 0.5,
                as_text(text),
                fontsize=FONT,
                va="center_baseline",
                color=INK.light,
                clip_on=True,
            )


def _fitting(name: str, width_in: float) -> str:
    """Return as much of a name as fits in a box; nothing if fewer than five letters would."""
    letters = int(width_in / LETTER) - 1
    if letters < 5:
        return ""
    return name if len(name) <= letters else f"{name[: letters - 1]}…"

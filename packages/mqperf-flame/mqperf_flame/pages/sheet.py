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
"""Inches: of the sheet, and the height of a box, of what is above a panel, and of the legend."""

ACROSS = 0.98
"""Share of the width that panels have."""

LETTER = 0.065
"""Width in inches of a letter in a box."""

FONT = 8

NARROWEST = 0.003
"""Share of a process below which a function has no box: three of a thousand pixels."""

MOST, LEAST = 4, 0.05
"""Processes that are drawn: those with most CPU, and with such a share of the first's."""

DEEPEST = 48
"""Boxes above one another; what is called farther up is not drawn."""

KINDS: tuple[tuple[str, str, Shade], ...] = (
    ("_[k]", "kernel", GRID),
    ("_[j]", "compiled while it ran (Erlang, Java), or of Python", ACTION),
    ("", "program and libraries", BOX),
)
"""By the end of its name, what a function is, and how it is drawn."""


@dataclass(frozen=True, slots=True)
class Box:
    """A function in a stack: how deep, from which sample to which."""

    name: str
    depth: int
    begin: int
    samples: int


def drawn(stacks: pd.DataFrame) -> list[str]:
    """The processes of a run that are drawn."""
    samples = stacks.groupby("process", sort=False)["stack_samples"].sum()
    most = samples.nlargest(MOST)
    busy = {*most.index[most >= LEAST * most.max()]}
    return [str(process) for process in samples.index if process in busy]


def flame_sheet(stacks: pd.DataFrame) -> Figure:
    """The stacks of a run, a panel for each process that is drawn."""
    parts = {
        process: [*boxes(dict(zip(rows["stack"], rows["stack_samples"], strict=True)))]
        for process in drawn(stacks)
        for rows in [stacks[stacks["process"].eq(process)]]
    }
    deep = [1 + max((box.depth for box in part), default=0) for part in parts.values()]
    heights = [HEADING + ROW * rows for rows in deep]
    top = total = sum(heights) + LEGEND
    figure = Figure(figsize=(WIDTH, total), facecolor=PAPER.light)
    for (process, part), rows, height in zip(parts.items(), deep, heights, strict=True):
        top -= height
        axes = figure.add_axes(((1 - ACROSS) / 2, top / total, ACROSS, ROW * rows / total))
        _panel(axes, process, part, rows)
    handles = [Patch(color=shade.light, label=kind) for _, kind, shade in KINDS]
    figure.legend(handles=handles, loc="lower left", ncols=len(KINDS), frameon=False, fontsize=8)
    return figure


def boxes(stacks: dict[str, int]) -> Iterator[Box]:
    """The boxes of a process: each function beside the others that are called from the same."""
    folded = sorted((stack.split(";")[:DEEPEST], count) for stack, count in stacks.items())
    least = NARROWEST * sum(stacks.values())
    widths: Counter[tuple[str, ...]] = Counter()
    begins: dict[tuple[str, ...], int] = {}
    at = 0
    for frames, samples in folded:
        for depth in range(1, len(frames) + 1):
            stack = (*frames[:depth],)
            begins.setdefault(stack, at)
            widths[stack] += samples
        at += samples
    for stack, samples in widths.items():
        if samples >= least:
            yield Box(stack[-1], len(stack) - 1, begins[stack], samples)


def _panel(axes: Axes, process: str, part: Sequence[Box], rows: int) -> None:
    """The boxes of a process, the outermost function at the bottom."""
    total = max((box.begin + box.samples for box in part), default=1)
    axes.set_xlim(0, total)
    axes.set_ylim(0, rows)
    axes.set_axis_off()
    axes.set_title(
        f"{as_text(process)}: {total:,} samples", loc="left", fontsize=9, color=INK.light
    )
    for box in part:
        end, kind, shade = next(each for each in KINDS if box.name.endswith(each[0]))
        name = box.name.removesuffix(end)
        mark = Rectangle((box.begin, box.depth), box.samples, 1, lw=0.6)
        mark.set(facecolor=shade.light, edgecolor=PAPER.light)
        axes.add_patch(mark)
        share = f"{100 * box.samples / total:.1f} % of {process}, {box.samples:,} samples"
        tell(mark, [kind], [f"{as_shown(name)}\n{share}"])
        if text := _fitting(name, WIDTH * ACROSS * box.samples / total):
            axes.text(
                box.begin + 0.003 * total,
                box.depth + 0.5,
                as_text(text),
                fontsize=FONT,
                va="center_baseline",
                color=INK.light,
                clip_on=True,
            )


def _fitting(name: str, width: float) -> str:
    """As much of a name as a box of so many inches has room for; nothing below five letters."""
    letters = int(width / LETTER) - 1
    if letters < 5:
        return ""
    return name if len(name) <= letters else f"{name[: letters - 1]}…"

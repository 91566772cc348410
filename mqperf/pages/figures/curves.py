"""A sweep as a panel draws it: what is on x, and its curves with the looks that tell them apart."""

from dataclasses import dataclass, replace

import pandas as pd

from mqperf.pages.figures import labels, palette
from mqperf.pages.figures.marks import PLACE, Pen
from mqperf.pages.figures.palette import DASHES, MARKERS, Shade
from mqperf.plan.columns import COLUMNS
from mqperf.study.tables import where
from mqperf.study.tables.axes import arranged, split
from mqperf.study.tables.axis_words import worded
from mqperf.study.tables.places import in_place


@dataclass(frozen=True, slots=True)
class Curve:
    """The points of one line; a name and a look of its own where it is one of several."""

    rows: pd.DataFrame
    name: str = ""
    shade: Shade | None = None
    marker: str = ""

    def look(self, pen: Pen) -> Pen:
        """How it is drawn by this pen; what a line of several means is told once for all."""
        if not self.name:
            return pen
        entries = (pen.label, self.name)
        shade = self.shade or pen.shade
        return replace(pen, label="", entries=entries, marker=self.marker, shade=shade)


@dataclass(frozen=True, slots=True)
class Sweep:
    """What is on x, its values where they are texts, and the curves."""

    x: str
    texts: tuple[str, ...]
    curves: tuple[Curve, ...]

    def of(self, **values: str) -> "Sweep":
        """The same of the rows with these values alone."""
        return replace(
            self,
            curves=tuple(replace(curve, rows=where(curve.rows, **values)) for curve in self.curves),
        )


def pens_of_layouts(rows: pd.DataFrame) -> dict[tuple[str, str], Pen]:
    """How each topology and kind of queue is drawn: by the topology's colour, the queues' dash.

    Where the topology is one, the queues have the colours.
    """
    layouts = rows[["topology", "queues"]].drop_duplicates().itertuples(index=False, name=None)
    words = labels.told_apart(layouts)
    alone = len({topology for topology, _ in words}) == 1
    pens = {}
    for layout, label in words.items():
        kind, place = labels.order(*layout)
        number = kind if alone else place
        pens[layout] = Pen(
            shade=palette.TOPOLOGIES[number % len(palette.TOPOLOGIES)],
            label=label,
            dash=DASHES[kind % len(DASHES)],
            marker=MARKERS[number % len(MARKERS)],
        )
    return pens


def swept(rows: pd.DataFrame, *, coloured: bool = True) -> Sweep:
    """The curves of these points: of several each has a marker, and a colour where that is free."""
    axes = arranged(rows)
    texts = _texts(rows, axes.x)
    parts = list(split(_placed(rows, axes.x, texts), axes.beside_x))
    if len(parts) == 1:
        return Sweep(axes.x, texts, (Curve(parts[0][1]),))
    shades = shades_of(rows, axes.colour) if coloured and axes.colour is not None else {}
    curves = [
        Curve(
            rows=part,
            name=name,
            shade=shades[worded(str(axes.colour), part[axes.colour].iloc[0])] if shades else None,
            marker=MARKERS[number % len(MARKERS)],
        )
        for number, (name, part) in enumerate(parts)
    ]
    return Sweep(axes.x, texts, tuple(curves))


def shades_of(rows: pd.DataFrame, colour: str) -> dict[str, Shade]:
    """The colour of each value, by its words: the largest stands out most."""
    words = [name for name, _ in split(rows, (colour,))]
    return {
        word: palette.spread(palette.THREADS, place, len(words)) for place, word in enumerate(words)
    }


def _texts(rows: pd.DataFrame, x: str) -> tuple[str, ...]:
    """What stands on an axis that has no numbers."""
    if COLUMNS[x].dtype != "string":
        return ()
    return tuple(rows[x].dropna().sort_values(key=in_place).unique())


def _placed(rows: pd.DataFrame, x: str, texts: tuple[str, ...]) -> pd.DataFrame:
    places = rows[x].map({text: place for place, text in enumerate(texts)}) if texts else rows[x]
    return rows.assign(**{PLACE: places.astype(float) * COLUMNS[x].scale})

"""Arrangement of a sweep in a panel: its x axis, and curves with distinct looks."""

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
    """The points of one line, and its name, colour and marker if it is one of several."""

    rows: pd.DataFrame
    name: str = ""
    shade: Shade | None = None
    marker: str = ""

    def look(self, pen: Pen) -> Pen:
        """Return the pen of this curve; one of several has no label, see ``name_curves``."""
        if not self.name:
            return pen
        entries = (pen.label, self.name)
        shade = self.shade or pen.shade
        return replace(pen, label="", entries=entries, marker=self.marker, shade=shade)


@dataclass(frozen=True, slots=True)
class Sweep:
    """The column on x, its values if they are texts, and the curves."""

    x: str
    texts: tuple[str, ...]
    curves: tuple[Curve, ...]

    def of(self, **values: str) -> "Sweep":
        """Return the sweep with only the rows that have these values."""
        return replace(
            self,
            curves=tuple(replace(curve, rows=where(curve.rows, **values)) for curve in self.curves),
        )


def pens_of_layouts(rows: pd.DataFrame) -> dict[tuple[str, str], Pen]:
    """Return the pen of each topology and kind of queue: colour by topology, dash by queues.

    If there is one topology, the colour is by queues.
    """
    layouts = rows[["topology", "queues"]].drop_duplicates().itertuples(index=False, name=None)
    names = labels.told_apart(layouts)
    one_topology = len({topology for topology, _ in names}) == 1
    pens = {}
    for layout, label in names.items():
        kind, topology_number = labels.order(*layout)
        number = kind if one_topology else topology_number
        pens[layout] = Pen(
            shade=palette.TOPOLOGIES[number % len(palette.TOPOLOGIES)],
            label=label,
            dash=DASHES[kind % len(DASHES)],
            marker=MARKERS[number % len(MARKERS)],
        )
    return pens


def swept(rows: pd.DataFrame, *, coloured: bool = True) -> Sweep:
    """Arrange points in curves: each of several has a marker, and a colour if ``coloured``."""
    axes = arranged(rows)
    texts = _texts(rows, axes.x)
    groups = list(split(_placed(rows, axes.x, texts), axes.beside_x))
    if len(groups) == 1:
        return Sweep(axes.x, texts, (Curve(groups[0][1]),))
    shades = shades_of(rows, axes.colour) if coloured and axes.colour is not None else {}
    curves = [
        Curve(
            rows=group,
            name=name,
            shade=shades[worded(str(axes.colour), group[axes.colour].iloc[0])] if shades else None,
            marker=MARKERS[number % len(MARKERS)],
        )
        for number, (name, group) in enumerate(groups)
    ]
    return Sweep(axes.x, texts, tuple(curves))


def shades_of(rows: pd.DataFrame, colour: str) -> dict[str, Shade]:
    """Return the colour of each value of the column, by its label: the largest stands out most."""
    names = [name for name, _ in split(rows, (colour,))]
    return {
        name: palette.spread(palette.THREADS, index, len(names)) for index, name in enumerate(names)
    }


def _texts(rows: pd.DataFrame, x: str) -> tuple[str, ...]:
    """Return the tick labels of a column of texts, in their order; none for numbers."""
    if COLUMNS[x].dtype != "string":
        return ()
    return tuple(rows[x].dropna().sort_values(key=in_place).unique())


def _placed(rows: pd.DataFrame, x: str, texts: tuple[str, ...]) -> pd.DataFrame:
    values = rows[x].map({text: index for index, text in enumerate(texts)}) if texts else rows[x]
    return rows.assign(**{PLACE: values.astype(float) * COLUMNS[x].scale})

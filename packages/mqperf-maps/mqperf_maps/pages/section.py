"""The section with a map of the throughput, for sweeps of two axes."""

from collections.abc import Collection, Iterator
from functools import partial

import pandas as pd
from matplotlib.figure import Figure

from mqperf.pages.report.drawings import Drawing
from mqperf.pages.report.words import joined
from mqperf.pages.sections import Content, Section, View
from mqperf.pages.sections.points import points
from mqperf.study.stats.compare import kinds_by_point
from mqperf.study.tables import arranged
from mqperf.study.tables.axis_words import called


def content(view: View) -> Iterator[Content]:
    """Yield maps of two axes, one for each combination of values of further axes."""
    rows = points(view.tables)
    axes = arranged(rows)
    if axes.colour is None:
        return
    caption = view.caption("throughput of all combinations")
    names = joined([called(name) for name in axes.names])
    alt = f"Map of the throughput at every combination of {names}."
    doubted = {*kinds_by_point(view.tables)}
    words = ["Mean throughput over the repeats; the darker, the higher."]
    if rows["point"].isin(doubted).any():
        words.append("Points in doubt are in parentheses.")
    yield Content(
        heading="Throughput of all combinations",
        words=words,
        drawing=Drawing(caption, alt, partial(_sheet, rows, axes.colour, doubted)),
    )


def _sheet(points: pd.DataFrame, rows_by: str, doubted: Collection[str]) -> Figure:
    from mqperf_maps.pages.sheet import (
        map_sheet,  # seaborn is slow to load, and few sweeps have maps
    )

    return map_sheet(points, rows_by, doubted)


SECTION = Section("combinations", content)

"""Latency against the offered rate, per step of a run or per run, with a line for each layout."""

from collections.abc import Collection, Mapping

import pandas as pd
from matplotlib.figure import Figure

from mqperf.pages.figures.curves import pens_of_layouts
from mqperf.pages.figures.marks import PLACE, dress, line, log_scale, rate_axis
from mqperf.pages.figures.sheets import HEIGHT, one_legend, panes, without_legend
from mqperf.plan.columns import COLUMNS
from mqperf.plan.test_cases import in_unit, unit_of
from mqperf.study.tables import varied, where
from mqperf.study.tables.axes import split


def rate_sheet(
    rows: pd.DataFrame,
    titles: Mapping[str, str],
    rate: str,
    latency: str,
    *,
    doubted: Collection[str] = (),
) -> Figure:
    """Draw a panel for each test case, named by ``titles``, on log axes.

    Each line is the column ``latency`` by the column ``rate`` of one system and layout.  Points
    in ``doubted`` are hollow.
    """
    cases = [case for case in titles if rows["test_case"].eq(case).any()]
    varying = [name for name in ("system", "threads") if len(rows[name].unique()) > 1]
    names = [*varying, *(name for name in varied(rows) if name != rate)]
    pens = pens_of_layouts(rows)
    figure, [panels] = panes(len(cases), 1, HEIGHT + 0.6)
    for case, axes in zip(cases, panels, strict=True):
        for (topology, queues), pen in pens.items():
            of_layout = where(rows, test_case=case, topology=topology, queues=queues)
            for number, (name, curve) in enumerate(split(of_layout, names)):
                look = pen.numbered(number, name, only=len(pens) == 1)
                line(curve.assign(**{PLACE: curve[rate]}), latency, axes, look, doubted=doubted)
        title = f"{titles[case]} {latency_name(latency)}, {COLUMNS[latency].shown}"
        dress(axes, title)
        rate_axis(axes, rate)
        log_scale(axes)
        without_legend(axes, in_unit(title, unit_of(case)))
    one_legend(figure, panels)
    return figure


def latency_name(column: str) -> str:
    """Return what a column of latency is, in words: ``mean latency``, ``p99 latency``."""
    return f"{column.removeprefix('latency_').removesuffix('_s')} latency"

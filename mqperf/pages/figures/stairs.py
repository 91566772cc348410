"""Steps of an offered rate: latency against the rate, a line for each layout."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mqperf.pages.figures.curves import pen_of_layout
from mqperf.pages.figures.marks import PLACE, dress, line, log_scale, rate_axis
from mqperf.pages.figures.sheets import HEIGHT, one_legend, panes, without_legend
from mqperf.plan.columns import COLUMNS
from mqperf.plan.test_cases import in_unit, unit_of
from mqperf.study.tables import varied
from mqperf.study.tables.axes import split

RATE, LATENCY = "step_rate_msg_s", "latency_mean_s"


def stairs_sheet(steps: pd.DataFrame, titles: Mapping[str, str]) -> Figure:
    """A panel for each test case, named by ``titles``, on axes of powers of ten.

    Each line is mean latency by the offered rate of a step, of one layout and run; ``steps`` have
    the parameters of their runs.
    """
    cases = [case for case in titles if steps["test_case"].eq(case).any()]
    figure, [panels] = panes(len(cases), 1, HEIGHT + 0.6)
    for case, axes in zip(cases, panels, strict=True):
        _latency(steps[steps["test_case"].eq(case)], axes, varied(steps))
        title = f"{titles[case]} {COLUMNS[LATENCY].heading()}"
        without_legend(axes, in_unit(title, unit_of(case)))
    one_legend(figure, panels)
    return figure


def _latency(steps: pd.DataFrame, axes: Axes, names: Sequence[str]) -> None:
    for (topology, queues), of_layout in steps.groupby(["topology", "queues"], sort=False):
        pen = pen_of_layout(str(topology), str(queues))
        for number, (name, curve) in enumerate(split(of_layout, names)):
            named = pen.numbered(number, name)
            for repeat, (_, rows) in enumerate(curve.groupby("run", sort=False)):
                once = replace(named, label=named.label if not repeat else "")
                line(rows.assign(**{PLACE: rows[RATE]}), LATENCY, axes, once)
    dress(axes, COLUMNS[LATENCY].heading())
    rate_axis(axes, RATE)
    log_scale(axes)

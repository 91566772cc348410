"""Steps of an offered rate: latency against the rate, a line for each layout."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from mqperf.pages.figures import labels, palette
from mqperf.pages.figures.marks import as_text, dress, plain
from mqperf.pages.figures.palette import DASHES, MARKERS
from mqperf.pages.figures.sheets import HEIGHT, one_legend, panes, without_legend
from mqperf.pages.figures.told import tell
from mqperf.plan.columns import COLUMNS
from mqperf.plan.test_cases import in_unit, unit_of


def stairs_sheet(steps: pd.DataFrame, titles: Mapping[str, str]) -> Figure:
    """A panel for each test case, named by ``titles``, on axes of powers of ten.

    Each line is mean latency by the offered rate of a step, of one layout and run.
    """
    cases = [case for case in titles if steps["test_case"].eq(case).any()]
    figure, [panels] = panes(len(cases), 1, HEIGHT + 0.6)
    for case, axes in zip(cases, panels, strict=True):
        _latency(steps[steps["test_case"].eq(case)], axes)
        title = f"{titles[case]} {COLUMNS['latency_mean_s'].heading()}"
        without_legend(axes, in_unit(title, unit_of(case)))
    one_legend(figure, panels)
    return figure


def _latency(steps: pd.DataFrame, axes: Axes) -> None:
    for (topology, queues), own in steps.groupby(["topology", "queues"], sort=False):
        kind, place = labels.order(str(topology), str(queues))
        name = labels.layout(str(topology), str(queues))
        for number, (run, rows) in enumerate(own.groupby("run", sort=False)):
            known = rows.dropna(subset=["latency_mean_s"])
            rates = known["step_rate_msg_s"].to_numpy(dtype=float)
            slow = known["latency_mean_s"].to_numpy(dtype=float) * COLUMNS["latency_mean_s"].scale
            (line,) = axes.plot(
                rates,
                slow,
                color=palette.TOPOLOGIES[place % len(palette.TOPOLOGIES)].light,
                linestyle=DASHES[kind % len(DASHES)],
                marker=MARKERS[place % len(MARKERS)],
                markersize=3.5,
                linewidth=1.4,
                label=as_text(name) if not number else "_",
            )
            points = zip(rates, slow, strict=True)
            tell(
                line,
                [as_text(name)],
                [f"{run}\n{at:.0f} msg/sec: {ms:.1f} ms" for at, ms in points],
            )
    dress(axes, "latency")
    for axis, scale in ((axes.xaxis, axes.set_xscale), (axes.yaxis, axes.set_yscale)):
        scale("log")
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if axis is axes.xaxis else (1,)))
        axis.set_major_formatter(FuncFormatter(plain))
        axis.set_minor_locator(NullLocator())
    axes.set_xlabel(COLUMNS["step_rate_msg_s"].heading(), fontsize=9)

"""The figure of the latency of urgent and usual messages in each second."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from mqperf.pages.figures.curves import pens_of_layouts
from mqperf.pages.figures.marks import as_text, dress, log_scale
from mqperf.pages.figures.sheets import HEIGHT, one_legend, panes, without_legend
from mqperf.pages.figures.told import tell
from mqperf.pages.questions.words import grouped
from mqperf.pages.report.drawings import Drawing
from mqperf.study.tables import where
from mqperf.study.tables.axes import split
from mqperf_amqp_0_9_1.onhost.priorities import URGENT, USUAL

CAPTION = "Latency by priority"

DASHES = {URGENT: "-", USUAL: ":"}


def drawing(rows: pd.DataFrame, intervals: pd.DataFrame, varying: Sequence[str]) -> Drawing:
    """Return a figure with two lines for each run: the mean latency in each second, by priority.

    ``rows`` are of ``priorities``; ``varying`` are the parameters in which points differ, beside
    the layout.
    """
    p99 = rows.groupby("urgency")["latency_p99_s"].max().reindex([*DASHES]) * 1e3
    values = ", ".join(f"{name} {grouped(value)} ms" for name, value in p99.dropna().items())
    alt = f"Mean latency in each second, by priority; the 99th percentiles: {values}."
    return Drawing(CAPTION, alt, lambda: _sheet(rows, intervals, varying))


def _sheet(rows: pd.DataFrame, intervals: pd.DataFrame, varying: Sequence[str]) -> Figure:
    figure, [panels] = panes(1, 1, HEIGHT)
    [axes] = panels
    pens = pens_of_layouts(rows)
    alone = len(pens) == 1 and not varying
    for (topology, queues), pen in pens.items():
        runs = where(rows, topology=topology, queues=queues)
        for number, (name, point_rows) in enumerate(split(runs, varying)):
            point_pen = pen.numbered(number, name)
            for repeat, run in enumerate(point_rows["run"].unique()):
                for urgency, dash in DASHES.items():
                    seconds = where(intervals, run=run, stream=urgency)
                    latency_ms = 1e3 * seconds["latency_mean_s"]
                    label = urgency if alone else f"{urgency}, {point_pen.label}"
                    (line,) = axes.plot(
                        seconds["start_s"],
                        latency_ms,
                        dash,
                        color=point_pen.shade.light,
                        linewidth=1.5,
                        label="_" if repeat else as_text(label),
                    )
                    pairs = zip(seconds["start_s"], latency_ms, strict=True)
                    texts = [f"{run}\n{at:g} s: {urgency} {grouped(ms)} ms" for at, ms in pairs]
                    tell(line, [urgency, *point_pen.series], texts)
    dress(axes, "")
    without_legend(axes, "mean latency, ms")
    axes.set_xlabel("seconds of the window", fontsize=9)
    log_scale(axes)
    one_legend(figure, panels)
    return figure

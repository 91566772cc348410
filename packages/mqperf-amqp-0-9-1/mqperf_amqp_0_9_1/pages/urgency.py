"""How long urgent and usual messages took, second by second."""

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
    """Two lines for each run, of the mean latency in each second.

    ``rows`` are of ``priorities``; ``varying`` are the names that tell their points apart beside
    the layout.
    """
    p99 = rows.groupby("urgency")["latency_p99_s"].max().reindex([*DASHES]) * 1e3
    told = ", ".join(f"{name} {grouped(value)} ms" for name, value in p99.dropna().items())
    alt = f"Mean latency in each second, by priority; the 99th percentiles: {told}."
    return Drawing(CAPTION, alt, lambda: _sheet(rows, intervals, varying))


def _sheet(rows: pd.DataFrame, intervals: pd.DataFrame, varying: Sequence[str]) -> Figure:
    figure, [panels] = panes(1, 1, HEIGHT)
    [axes] = panels
    pens = pens_of_layouts(rows)
    alone = len(pens) == 1 and not varying
    for (topology, queues), pen in pens.items():
        runs = where(rows, topology=topology, queues=queues)
        for number, (name, of_point) in enumerate(split(runs, varying)):
            named = pen.numbered(number, name)
            for repeat, run in enumerate(of_point["run"].unique()):
                for urgency, dash in DASHES.items():
                    seconds = where(intervals, run=run, stream=urgency)
                    took = 1e3 * seconds["latency_mean_s"]
                    label = urgency if alone else f"{urgency}, {named.label}"
                    (line,) = axes.plot(
                        seconds["start_s"],
                        took,
                        dash,
                        color=named.shade.light,
                        linewidth=1.5,
                        label="_" if repeat else as_text(label),
                    )
                    pairs = zip(seconds["start_s"], took, strict=True)
                    texts = [f"{run}\n{at:g} s: {urgency} {grouped(ms)} ms" for at, ms in pairs]
                    tell(line, [urgency, *named.series], texts)
    dress(axes, "")
    without_legend(axes, "mean latency, ms")
    axes.set_xlabel("seconds of the window", fontsize=9)
    log_scale(axes)
    one_legend(figure, panels)
    return figure

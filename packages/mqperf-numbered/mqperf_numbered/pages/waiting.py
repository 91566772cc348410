"""The figure of waiting deliveries in each second after consumers start late."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from mqperf.pages.figures.curves import pens_of_layouts
from mqperf.pages.figures.marks import as_text, dress, from_zero
from mqperf.pages.figures.sheets import HEIGHT, one_legend, panes, without_legend
from mqperf.pages.figures.told import tell
from mqperf.pages.questions.words import case_of, grouped
from mqperf.pages.report.drawings import Drawing
from mqperf.study.tables import where
from mqperf.study.tables.axes import split

CAPTION = "Messages that wait"


def drawing(draining: pd.DataFrame, intervals: pd.DataFrame, varying: Sequence[str]) -> Drawing:
    """Return a figure with a panel for each test case and a line for each run.

    ``draining`` are the rows of that phase in ``backlog``; ``varying`` are the parameters in which
    points differ, beside the layout.
    """
    most = grouped(draining["waiting"].max())
    alt = f"Messages that wait in each second from when consumers start: at most {most}."
    return Drawing(CAPTION, alt, lambda: _sheet(draining, intervals, varying))


def _sheet(draining: pd.DataFrame, intervals: pd.DataFrame, varying: Sequence[str]) -> Figure:
    cases, pens = draining["test_case"].unique(), pens_of_layouts(draining)
    figure, [panels] = panes(len(cases), 1, HEIGHT)
    for case, axes in zip(cases, panels, strict=True):
        for (topology, queues), pen in pens.items():
            runs = where(draining, test_case=case, topology=topology, queues=queues)
            for number, (name, point_runs) in enumerate(split(runs, varying)):
                point_pen = pen.numbered(number, name)
                for repeat, row in enumerate(point_runs.to_dict("records")):
                    waiting = _waiting(where(intervals, run=row["run"]), row)
                    (line,) = axes.plot(
                        waiting.index,
                        waiting,
                        point_pen.dash,
                        color=point_pen.shade.light,
                        linewidth=1.5,
                        label="_" if repeat else as_text(point_pen.label or case_of(row)),
                    )
                    tell(line, point_pen.series, [*_texts(row, waiting)])
        dress(axes, "")
        without_legend(axes, f"{case_of({'test_case': case})} messages that wait")
        axes.set_xlabel("seconds after consumers start", fontsize=9)
        from_zero(axes)
    one_legend(figure, panels)
    return figure


def _waiting(intervals: pd.DataFrame, row: Mapping[Any, Any]) -> pd.Series:
    """Return the deliveries waiting at the end of each second, indexed by time since the start."""
    counts = intervals.pivot_table(
        index="start_s", columns="stream", values="count", aggfunc="sum", fill_value=0
    )
    ends = counts.index.to_numpy(dtype=float) + 1 - row["from_s"]
    totals = counts[["sent", "received"]].astype(float).cumsum().set_axis(ends)
    copies = row["waiting"] / totals.loc[totals.index <= 0, "sent"].max()
    waiting: pd.Series = totals["sent"] * copies - totals["received"]
    return waiting.clip(lower=0)


def _texts(row: Mapping[Any, Any], waiting: pd.Series) -> Iterator[str]:
    for second, count in waiting.items():
        yield f"{row['run']}\n{second:g} s: {grouped(float(count))} wait"

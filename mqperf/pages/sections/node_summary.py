"""Section on internal metrics of nodes over the window."""

from collections.abc import Iterator

import pandas as pd

from mqperf.base.one_line import amount
from mqperf.pages.report import drawings
from mqperf.pages.sections.section import Content, Section, View
from mqperf.plan.columns import COLUMNS, TABLES
from mqperf.study.tables import tidy, with_parameters


def content(view: View) -> Iterator[Content]:
    """Yield a table with a row for each node of a run; metrics that none has are left out."""
    caption = view.caption("inside of the nodes")
    summary = view.of_runs("node_summary")
    metrics = with_parameters(view.tables["node_metrics"], view.tables["runs"])
    yield Content(
        heading="Metrics of the nodes",
        words=[*_words(summary)],
        caption=caption,
        rows=summary,
        columns=view.columns(
            summary,
            [name for name in TABLES["node_summary"].columns if name not in TABLES["runs"].columns],
            keep=("node",),
        ),
        key="run",
        drawing=drawings.node_summary(caption, metrics),
        data=tidy(summary),
        counts_messages=True,
    )


def _words(nodes: pd.DataFrame) -> Iterator[str]:
    """Yield how the metrics were queried, and the conclusions on the runs."""
    yield (
        "Metrics of the nodes, queried once a second over the measured window. Lines are sums over"
        " all nodes of a run."
    )
    growth = nodes.groupby("run")["waiting_growth"].sum(min_count=1)
    if (growth > 0).any():
        largest = int(growth.max())
        yield (
            f"In {amount(int((growth > 0).sum()), 'run')} of {len(growth)} more messages waited at"
            f" the end of the window than at its start, {largest} more at most."
        )
    paused = nodes["paused_s"].dropna()
    if len(paused):
        longest = COLUMNS["paused_s"].scale * paused.max()
        yield f"Garbage collection of a node took at most {longest:.0f} ms of a window."
    if nodes["presettled_dropped"].gt(0).any():
        dropped = int(nodes["presettled_dropped"].sum())
        yield f"Routers silently dropped {dropped} pre-settled messages."


SECTION = Section("node_summary", content)

"""What nodes told of their inside over the window, in rows and in words."""

from collections.abc import Iterator

import pandas as pd

from mqperf.pages.report.words import amount
from mqperf.plan.columns import COLUMNS
from mqperf.study.tables import Tables, in_curves, with_parameters


def rows(tables: Tables) -> pd.DataFrame:
    """One row per node of a run."""
    return in_curves(with_parameters(tables["insides"], tables["runs"]), "repeat")


def about(insides: pd.DataFrame) -> Iterator[str]:
    """What was asked, and what it says of the runs."""
    yield (
        "Metrics of the nodes, queried once a second over the measured window. Lines are sums over"
        " all nodes of a run."
    )
    growth = insides.groupby("run")["waiting_growth"].sum(min_count=1)
    if (growth > 0).any():
        most = int(growth.max())
        yield (
            f"In {amount(int((growth > 0).sum()), 'run')} of {len(growth)} more messages waited at"
            f" the end of the window than at its start, {most} more at most."
        )
    paused = insides["paused_s"].dropna()
    if len(paused):
        longest = COLUMNS["paused_s"].scale * paused.max()
        yield f"Garbage collection of a node took at most {longest:.0f} ms of a window."
    if insides["presettled_dropped"].gt(0).any():
        dropped = int(insides["presettled_dropped"].sum())
        yield f"Routers silently dropped {dropped} pre-settled messages."

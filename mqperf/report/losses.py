"""What runs whose plan takes actions lost: no doubt, but to be said beside them."""

from collections.abc import Iterator

import pandas as pd

from mqperf.report.words import amount
from mqperf.stats.rules.finding import measured
from mqperf.tables import Tables


def of_planned_actions(tables: Tables) -> Iterator[str]:
    """A sentence on lost messages and errors of all runs with actions; nothing without actions."""
    every = measured(tables)
    runs = every[every["run"].isin(tables["outages"]["run"]) & every["lost"].notna()]
    if runs.empty:
        return
    parts = [f"{runs['lost'].sum()} of {runs['asked'].sum()} messages were lost"]
    if runs["errors"].sum():
        parts.append(f"{runs['errors'].sum()} ended in an error at the client")
    worst = runs.loc[runs["lost"].astype("int64").idxmax()]
    if len(runs) > 1 and worst["lost"]:
        parts.append(f"the most in one run is {_share(worst)}")
    yield (
        f"In {amount(len(runs), 'run')} with planned actions {'; '.join(parts)}. Losses and errors"
        " from planned actions are results, not doubts."
    )


def _share(run: pd.Series) -> str:
    share = f" ({100 * run['lost'] / run['asked']:.2g} %)" if run["asked"] else ""
    return f"{run['lost']} of {run['asked']}{share}"

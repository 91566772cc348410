"""What ``notebooks/faults.ipynb`` calls beside others: what actions of the plan cost.

``found`` are complete tables.  A folder whose plan has no actions gives empty ones.
"""

import pandas as pd

from mqperf.pages.report import rows as report_rows
from mqperf.plan.columns import ACTION_PHASES, COST, OUTAGES
from mqperf.study.tables import Tables, shown, varied


def outages(found: Tables) -> pd.DataFrame:
    """A row for each action of a run: how long it went on, what clients saw of it, and its cost."""
    return _told(found, report_rows.outages(found), (*OUTAGES, *COST))


def phases(found: Tables) -> pd.DataFrame:
    """Messages and latencies before, during and after each action of a run."""
    return _told(found, report_rows.action_phases(found), ACTION_PHASES)


def disturbed(found: Tables) -> str:
    """The last run with an action; the last of all where none has any."""
    runs = found["messages"]["run"]
    acted = runs[runs.isin(found["outages"]["run"])]
    return str((acted if len(acted) else runs).iloc[-1])


def _told(found: Tables, rows: pd.DataFrame, columns: tuple[str, ...]) -> pd.DataFrame:
    """Where the rows belong, and those of the columns that tell anything."""
    place = ("test_case", "threads", *varied(found["runs"]), "repeat")
    return shown(rows, *place, *(name for name in columns if rows[name].notna().any()))

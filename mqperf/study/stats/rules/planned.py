"""The plan and what was found: every run that it asks for, and no other."""

from collections.abc import Iterator

import pandas as pd

from mqperf.study.stats.rules.finding import Finding
from mqperf.study.tables import Tables, outside_plan

TURN = ["point", "repeat", "control_run"]
"""What tells the runs of a plan apart."""


def missing_run(tables: Tables) -> Iterator[Finding]:
    """Points of the plan without all of their runs.

    An attempt that failed is not missing, nor a run that cannot be read.
    """
    planned = tables.get("planned")
    if planned is None or planned.empty:
        return
    attempts = tables["runs"]
    there = set(_turns(attempts))
    unread = attempts.loc[attempts["status"] == "unreadable", "run"]
    gone = planned[~planned["run"].isin(unread)]
    gone = gone[[turn not in there for turn in _turns(gone)]]
    asked = planned.groupby("point").size()
    for point, runs in gone.groupby("point", sort=False):
        which = ", ".join(
            f"control run {control_run}" if control_run else f"repeat {repeat}"
            for repeat, control_run in zip(runs["repeat"], runs["control_run"], strict=True)
        )
        yield Finding(
            str(runs["run"].iloc[0]),
            f"{len(runs)} of {asked[point]} runs that the plan asks for at point {point}"
            f" {'is' if len(runs) == 1 else 'are'} missing ({which}): not measured yet, or removed",
            {"asked": int(asked[point]), "missing": len(runs)},
        )


def not_of_plan(tables: Tables) -> Iterator[Finding]:
    """Points in the folder which its plan does not ask for."""
    outside = outside_plan(tables)
    for point, runs in outside.groupby("point", sort=False):
        windows = ", ".join(f"{seconds:g} s" for seconds in runs["asked_s"].dropna().unique())
        many = f"{len(runs)} run{'' if len(runs) == 1 else 's'}"
        yield Finding(
            str(runs["run"].iloc[0]),
            f"the plan of this folder does not ask for point {point} (window"
            f" {windows or 'unknown'}, {many}): pages and notebooks leave it out",
            {"runs": len(runs)},
        )


def _turns(frame: pd.DataFrame) -> Iterator[tuple[object, ...]]:
    turns = frame.assign(control_run=frame["control_run"].fillna(0))
    return turns[TURN].itertuples(index=False, name=None)

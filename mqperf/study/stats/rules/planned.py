"""The plan of a folder against its runs: none is missing, and none is unplanned."""

from collections.abc import Iterator

import pandas as pd

from mqperf.study.stats.rules.finding import Finding
from mqperf.study.tables import Tables, outside_plan

PLAN_KEYS = ["point", "repeat", "control_run"]
"""Columns that identify a run of a plan."""


def missing_run(tables: Tables) -> Iterator[Finding]:
    """Points of the plan that lack some of their runs.

    Failed attempts and runs that cannot be read are not missing.
    """
    planned = tables.get("planned")
    if planned is None or planned.empty:
        return
    attempts = tables["runs"]
    attempted = set(_keys(attempts))
    unread = attempts.loc[attempts["status"] == "unreadable", "run"]
    missing = planned[~planned["run"].isin(unread)]
    missing = missing[[key not in attempted for key in _keys(missing)]]
    counts = planned.groupby("point").size()
    for point, runs in missing.groupby("point", sort=False):
        names = ", ".join(
            f"control run {control_run}" if control_run else f"repeat {repeat}"
            for repeat, control_run in zip(runs["repeat"], runs["control_run"], strict=True)
        )
        yield Finding(
            str(runs["run"].iloc[0]),
            f"{len(runs)} of {counts[point]} runs that the plan asks for at point {point}"
            f" {'is' if len(runs) == 1 else 'are'} missing ({names}): not measured yet, or removed",
            {"asked": int(counts[point]), "missing": len(runs)},
        )


def not_of_plan(tables: Tables) -> Iterator[Finding]:
    """Points in the folder which its plan does not ask for."""
    outside = outside_plan(tables)
    for point, runs in outside.groupby("point", sort=False):
        windows = ", ".join(f"{seconds:g} s" for seconds in runs["asked_s"].dropna().unique())
        count = f"{len(runs)} run{'' if len(runs) == 1 else 's'}"
        yield Finding(
            str(runs["run"].iloc[0]),
            f"the plan of this folder does not ask for point {point} (window"
            f" {windows or 'unknown'}, {count}): pages and notebooks leave it out",
            {"runs": len(runs)},
        )


def _keys(frame: pd.DataFrame) -> Iterator[tuple[object, ...]]:
    runs = frame.assign(control_run=frame["control_run"].fillna(0))
    return runs[PLAN_KEYS].itertuples(index=False, name=None)

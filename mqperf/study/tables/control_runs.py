"""Separate control runs: they monitor the machine, and belong to no point."""

import pandas as pd

from mqperf.plan.columns import TABLES
from mqperf.study.tables.shape import Tables, conform, empty

NAME = "control_runs"


def control_runs_apart(tables: Tables) -> dict[str, pd.DataFrame]:
    """Move the control runs to a table ``control_runs``, and remove their rows from the others.

    Its rows are those that ``runs`` had, each with the run's messages and latency.  The tables
    ``planned`` and ``doubts`` are unchanged.
    """
    is_control = tables["runs"]["control_run"].fillna(0).gt(0)
    if not is_control.any():
        return {**tables, NAME: empty(NAME)}
    control = tables["runs"][is_control]
    split = {
        name: frame
        if name in ("planned", "doubts") or "run" not in frame.columns
        else frame[~frame["run"].isin(control["run"])].reset_index(drop=True)
        for name, frame in tables.items()
    }
    return {**split, NAME: _with_figures(control, tables)}


def all_attempts(tables: Tables) -> pd.DataFrame:
    """The rows of ``runs`` and ``control_runs``: everything that was measured or attempted."""
    runs, control = tables["runs"], tables[NAME]
    if control.empty:
        return runs
    return pd.concat([runs, control.reindex(columns=runs.columns)], ignore_index=True)


def _with_figures(runs: pd.DataFrame, tables: Tables) -> pd.DataFrame:
    for table in ("messages", "latency"):
        frame = tables[table].drop_duplicates("run")
        figures = [name for name in TABLES[NAME].columns if name in frame.columns]
        added = [name for name in figures if name == "run" or name not in runs.columns]
        runs = runs.merge(frame[added], on="run", how="left")
    return conform(NAME, runs)

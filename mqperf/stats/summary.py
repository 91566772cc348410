"""Points of a sweep: the runs of each point over its repeats."""

import numpy as np
import pandas as pd
from scipy import stats

from mqperf.columns import FIGURES, TABLES
from mqperf.tables import Tables, conform

CONFIDENCE = 0.95


def points(tables: Tables) -> pd.DataFrame:
    """One row per point: each figure's mean, spread and 95 % interval over the repeats.

    A point whose every attempt failed has a row without figures.  Spread and interval (Student's t,
    n - 1 degrees of freedom) are empty for a single run: one run tells nothing about the next.
    """
    runs = tables["runs"]
    if runs.empty:
        return conform("points", pd.DataFrame())
    keys = [name for name in TABLES["points"].columns if name in TABLES["runs"].columns]
    keys = [name for name in keys if name != "failed"]
    attempts = runs[runs["point"].notna()]
    whole = attempts["status"].ne("failed")
    frame = attempts.assign(repeats=whole.astype(int), failed=(~whole).astype(int))
    counted = frame.groupby(keys, sort=False, dropna=False)[["repeats", "failed"]].sum()
    spread = _spread(run_figures(tables).groupby("point", sort=False)[list(FIGURES)])
    joined = counted.reset_index().merge(spread, how="left", left_on="point", right_index=True)
    return conform("points", joined)


def run_figures(tables: Tables) -> pd.DataFrame:
    """The figures of ``columns.FIGURES``, one row per whole run, beside its ``run`` and ``point``."""
    cpu = tables["cpu"]
    broker = cpu[(cpu["kind"] == "broker") & (cpu["scope"] == "window")]
    used = broker.groupby("run")[["total_cores", "sys_cores"]].sum().add_prefix("cpu_")
    frame = tables["messages"].merge(
        tables["latency"].drop_duplicates("run"), on="run", how="left", suffixes=("", "_latency")
    )
    frame = frame.merge(used, left_on="run", right_index=True, how="left")
    return frame[["run", "point", *FIGURES]]


def _spread(groups: "pd.api.typing.DataFrameGroupBy") -> pd.DataFrame:
    mean, sd, n = groups.mean(), groups.std(ddof=1), groups.count()
    factor = stats.t.ppf((1 + CONFIDENCE) / 2, np.maximum(n - 1, 1))
    half = (sd * factor / np.sqrt(n)).where(n > 1)
    return pd.concat(
        [
            mean,
            sd.add_suffix("_sd"),
            (mean - half).add_suffix("_low"),
            (mean + half).add_suffix("_high"),
        ],
        axis=1,
    )

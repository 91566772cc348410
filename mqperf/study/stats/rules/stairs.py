"""Runs whose offered rate climbs in steps: which steps were kept, and CPU use beyond them.

Over the whole window such a run is mostly idle, so its CPU use is taken from the seconds after the
start of the first step that was not kept.
"""

import numpy as np
import pandas as pd

from mqperf.study.stats.rules.cpu import PROCESS, over_the_window
from mqperf.study.stats.rules.finding import measured
from mqperf.study.stats.rules.window import KEEPS_UP
from mqperf.study.tables import Tables, once

STEP = (
    *("step_rate_msg_s", "from_s", "until_s"),
    *("throughput_msg_s", "unfinished", "latency_mean_s", "latency_min_s", "latency_p99_s"),
)
"""The columns of ``rate_steps`` by which a step is judged."""

DIGITS = 4
"""Significant digits of the rates of steps."""

PAUSE_S = 0.1
"""Longest pause that is no limit; searches allow the same, as runs of 5 s may be 2 % behind."""

LEAST_S = 2.0
"""The fewest seconds of samples from which CPU use is taken."""

OVERLOADED = "overloaded"
"""The table with the result of ``overloaded``, where rows of single seconds are not kept."""


def judged_steps(runs: pd.DataFrame, steps: pd.DataFrame) -> pd.DataFrame:
    """The steps of measured runs as rows like runs, ``kept`` (1) or not (0).

    A step is kept where its backlog at the end is at most 2 % of the messages due in it, or those
    due in ``PAUSE_S``.  Messages in flight are no backlog: one of each thread, and those that come
    within the mean latency of the fastest step.  As even that may be overloaded, latency beyond the
    least counts up to half a step only, at the highest throughput of any step.
    ``held`` is its rate, less the backlog where that is more than 2 %.
    """
    without_steps = runs.drop(columns=["offered", *STEP], errors="ignore")
    frame = without_steps.merge(steps[["run", *STEP]], on="run")
    duration = frame["until_s"] - frame["from_s"]
    rate, of_run = frame["step_rate_msg_s"], frame.groupby("run")
    fastest = of_run["latency_mean_s"].transform("min").fillna(0.0)
    least = frame["latency_min_s"].fillna(0.0)
    beyond = np.minimum(fastest, np.maximum(least, duration / 2)) - least
    finished = np.minimum(rate, of_run["throughput_msg_s"].transform("max"))
    in_flight = frame["threads"] + rate * least + finished * beyond
    backlog = frame["unfinished"] * frame["sent"] / frame["asked"] - in_flight
    kept = backlog <= rate * (KEEPS_UP * duration).clip(lower=PAUSE_S)
    unkept = backlog.where(backlog > rate * KEEPS_UP * duration, 0.0)
    return frame.assign(
        offered=rate.map(rounded),
        kept=kept.astype("float64"),
        held=(rate - unkept / duration).map(rounded),
    )


def rounded(rate: float, digits: int = DIGITS) -> float:
    """The rate with so many significant digits."""
    return float(f"{rate:.{digits}g}")


def overloaded(tables: Tables) -> pd.DataFrame:
    """Rows of CPU like those over the window, from the first step that was not kept to the end.

    Only of runs with such a step.  ``total_cores`` is a mean over the last ``LEAST_S`` or more.
    """
    if (cached := tables.get(OVERLOADED)) is not None:
        return cached
    window = over_the_window(tables)
    if tables["rate_steps"].empty:
        return window.iloc[:0]
    missed = _first_missed(tables)
    samples = tables["cpu"][tables["cpu"]["scope"].eq("interval")].merge(missed, on="run")
    last = samples.groupby("run")["end_s"].transform("max") - LEAST_S
    beyond = samples[samples["start_s"] >= samples["from_s"].clip(upper=last)]
    means = beyond.groupby(PROCESS)["total_cores"].mean().reset_index()
    rows = window[window["run"].isin(missed["run"])].drop(columns="total_cores")
    return rows.merge(means, how="left", on=PROCESS)[[*window.columns]]


@once
def used_cpu(tables: Tables) -> pd.DataFrame:
    """Rows of CPU over the window; of staircases, over the part that was not kept."""
    window, beyond = over_the_window(tables), overloaded(tables)
    if beyond.empty:
        return window
    return pd.concat([window[~window["run"].isin(beyond["run"])], beyond], ignore_index=True)


def _first_missed(tables: Tables) -> pd.DataFrame:
    """``run`` and ``from_s`` of its first step after the last kept one; no row if that is last."""
    steps = judged_steps(measured(tables), tables["rate_steps"])
    kept = steps[steps["kept"].eq(1)].groupby("run")["from_s"].max()
    last = steps["run"].map(kept).astype("float64").fillna(-1.0)
    missed = steps[steps["from_s"].gt(last)]
    return missed.groupby("run")["from_s"].min().reset_index()

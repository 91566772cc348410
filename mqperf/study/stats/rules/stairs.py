"""Runs whose offered rate climbs in steps: which steps were kept, and what ran out beyond them.

Over the whole window such a run is mostly idle, so who had the CPU is asked of the seconds from the
first step on that was not kept.
"""

import numpy as np
import pandas as pd

from mqperf.study.stats.rules.cpu import PROCESS, over_the_window
from mqperf.study.stats.rules.finding import measured
from mqperf.study.stats.rules.window import KEEPS_UP
from mqperf.study.tables import Tables

STEP = (
    *("step_rate_msg_s", "from_s", "until_s"),
    *("throughput_msg_s", "unfinished", "latency_mean_s", "latency_min_s", "latency_p99_s"),
)
"""The columns of ``rate_steps`` by which a step is judged."""

DIGITS = 4
"""Significant digits of the rates of steps."""

PAUSE_S = 0.1
"""A pause of so long is no limit; nor is it to a search, whose runs of 5 s may be 2 % behind."""

LEAST_S = 2.0
"""Seconds of samples of CPU that tell who used it."""

OVERLOADED = "overloaded"
"""Under which name rules find what ``overloaded`` gives, where single seconds are not kept."""


def judged_steps(runs: pd.DataFrame, steps: pd.DataFrame) -> pd.DataFrame:
    """The steps of measured runs, as if each were a run that was ``kept`` (1) or not (0).

    It is kept where no more is unfinished at its end than 2 % of what was due in it, or what is due
    in ``PAUSE_S``, beside what is on its way: one of each thread, and what comes while a message
    takes as long as those of the fastest step.  Where that is overloaded it has long latencies,
    too: so beyond the least latency only half a step counts, at the highest throughput of any step.
    ``held`` is its rate, less what is unfinished beside that where it is more than 2 %.
    """
    alone = runs.drop(columns=["offered", *STEP], errors="ignore")
    frame = alone.merge(steps[["run", *STEP]], on="run")
    lasted = frame["until_s"] - frame["from_s"]
    rate, of_run = frame["step_rate_msg_s"], frame.groupby("run")
    fastest = of_run["latency_mean_s"].transform("min").fillna(0.0)
    least = frame["latency_min_s"].fillna(0.0)
    beyond = np.minimum(fastest, np.maximum(least, lasted / 2)) - least
    finished = np.minimum(rate, of_run["throughput_msg_s"].transform("max"))
    on_way = frame["threads"] + rate * least + finished * beyond
    late = frame["unfinished"] * frame["sent"] / frame["asked"] - on_way
    kept = late <= rate * (KEEPS_UP * lasted).clip(lower=PAUSE_S)
    left = late.where(late > rate * KEEPS_UP * lasted, 0.0)
    return frame.assign(
        offered=rate.map(rounded),
        kept=kept.astype("float64"),
        held=(rate - left / lasted).map(rounded),
    )


def rounded(rate: float, digits: int = DIGITS) -> float:
    """A rate as it is told, such as that of a step."""
    return float(f"{rate:.{digits}g}")


def overloaded(tables: Tables) -> pd.DataFrame:
    """Rows of CPU as over the window, of runs that climb beyond what is kept, and from then on.

    ``total_cores`` is the mean of the samples, at least of the last ``LEAST_S``.
    """
    if (known := tables.get(OVERLOADED)) is not None:
        return known
    window = over_the_window(tables)
    if tables["rate_steps"].empty:
        return window.iloc[:0]
    since = _since(tables)
    samples = tables["cpu"][tables["cpu"]["scope"].eq("interval")].merge(since, on="run")
    last = samples.groupby("run")["end_s"].transform("max") - LEAST_S
    beyond = samples[samples["start_s"] >= samples["from_s"].clip(upper=last)]
    means = beyond.groupby(PROCESS)["total_cores"].mean().reset_index()
    rows = window[window["run"].isin(since["run"])].drop(columns="total_cores")
    return rows.merge(means, how="left", on=PROCESS)[[*window.columns]]


def used_cpu(tables: Tables) -> pd.DataFrame:
    """Rows of CPU over the window; of staircases, over the part that was not kept."""
    window, beyond = over_the_window(tables), overloaded(tables)
    if beyond.empty:
        return window
    return pd.concat([window[~window["run"].isin(beyond["run"])], beyond], ignore_index=True)


def _since(tables: Tables) -> pd.DataFrame:
    """Run and ``from_s`` of its first step above all that were kept; none where all were."""
    steps = judged_steps(measured(tables), tables["rate_steps"])
    kept = steps[steps["kept"].eq(1)].groupby("run")["from_s"].max()
    last = steps["run"].map(kept).astype("float64").fillna(-1.0)
    missed = steps[steps["from_s"].gt(last)]
    return missed.groupby("run")["from_s"].min().reset_index()

"""Points of a sweep: the runs of each point over its repeats."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from scipy import special

from mqperf.plan import PERCENTILES
from mqperf.plan.columns import FIGURES, TABLES
from mqperf.study.series.intervals import CONFIDENCE
from mqperf.study.tables import Tables, completed, conform, empty, varied
from mqperf.study.tables.axes import by_point


def points(tables: Tables) -> pd.DataFrame:
    """One row per point: each figure's mean, spread and 95 % interval over the repeats.

    Parameters that vary have columns.  A point whose every attempt failed has a row without
    figures.  Spread and interval (Student's t, n - 1 degrees of freedom) are empty for a single
    run, for which the interval from within it (``*_within_low``) is no substitute.  A lower end
    below zero is set to zero.
    """
    runs = tables["runs"]
    if runs.empty:
        return empty("points")
    attempts = runs[runs["point"].notna()]
    keys = [name for name in TABLES["points"].with_parameters(varied(runs)) if name in runs.columns]
    succeeded = attempts.index.isin(completed(attempts).index)
    frame = attempts.assign(repeats=succeeded.astype(int), failed=(~succeeded).astype(int))
    # an unreadable attempt lacks some keys: first() takes the first value that is not missing
    groups = frame.groupby("point", sort=False)
    first = groups[[name for name in keys if name != "point"]].first()
    counted = first.join(groups[["repeats", "failed"]].sum()).reset_index()
    spread = _spread(run_figures(tables))
    return conform("points", counted.merge(spread, how="left", left_on="point", right_index=True))


def run_figures(tables: Tables) -> pd.DataFrame:
    """The columns ``run``, ``point`` and ``columns.FIGURES``, one row per whole run."""
    used = _broker_cpu(tables["cpu"]).add_prefix("cpu_")
    frame = tables["messages"].merge(
        tables["latency"].drop_duplicates("run"), on="run", how="left", suffixes=("", "_latency")
    )
    frame = frame.merge(used, left_on="run", right_index=True, how="left")
    finished = frame["throughput_msg_s"]
    frame["cpu_per_message_s"] = frame["cpu_total_cores"] / finished.where(finished > 0)
    return _without_partial_percentiles(frame[["run", "point", *FIGURES]])


def _without_partial_percentiles(figures: pd.DataFrame) -> pd.DataFrame:
    """The figures, without percentiles for which some run of the point has too few messages.

    Their mean over the other runs would favour the runs with most messages.
    """
    timed = figures["latency_mean_s"].notna()
    for name in PERCENTILES:
        incomplete = figures.loc[timed & figures[name].isna(), "point"]
        figures[name] = figures[name].mask(figures["point"].isin(incomplete))
    return figures


def with_doubts(
    row: Mapping[str, Any], curve: pd.DataFrame, doubts: pd.DataFrame
) -> dict[str, Any]:
    """The row of a curve of runs, with the kinds of doubts about its best throughput.

    These are added as ``doubted``, and at the end of the ``text``.
    """
    top = str(curve.groupby("point")["throughput_msg_s"].mean().idxmax())
    kinds = ", ".join(doubts[doubts["point"].eq(top)]["kind"].unique())
    if not kinds:
        return {**row, "doubted": None}
    text = f"{row['text']} Its best throughput is in doubt: {kinds}."
    return {**row, "doubted": kinds, "text": text}


def _broker_cpu(cpu: pd.DataFrame) -> pd.DataFrame:
    """CPU of all broker nodes over the window, by run: the total that a report printed, if any.

    Such a total is exact, and the sum of rounded nodes is not.  The sum is not known unless every
    node that was sampled in the window has its CPU over the window.
    """
    rows = cpu[cpu["kind"].isin(["broker", "total"])]
    over_window = rows[["total_cores", "sys_cores"]].where(rows["scope"].eq("window"))
    nodes = over_window.groupby([rows["kind"], rows["run"], rows["process"]]).first()
    runs = ["kind", "run"]
    used = nodes.groupby(runs).sum().where(nodes.notna().groupby(runs).all())
    kinds = used.index.get_level_values("kind")
    nodes, printed = (used[kinds == kind].droplevel("kind") for kind in ("broker", "total"))
    return printed.combine_first(nodes)


def _spread(figures: pd.DataFrame) -> pd.DataFrame:
    groups = by_point(figures)[list(FIGURES)]
    statistics = groups.mean(), groups.std(ddof=1), groups.count()
    mean, sd, n = (frame.set_index("point") for frame in statistics)
    quantile = special.stdtrit(n.clip(lower=2) - 1, (1 + CONFIDENCE) / 2)
    half = (sd / n**0.5 * quantile).where(n > 1)
    low = mean - half
    low = low.mask((low < 0) & (mean >= 0), 0.0)  # clock errors may make a latency negative
    return pd.concat(
        [mean, sd.add_suffix("_sd"), low.add_suffix("_low"), (mean + half).add_suffix("_high")],
        axis=1,
    )

"""Where a sweep of offered rates saturates: up to which rate all that is offered is finished.

An open system finishes what it is offered, X <= d R for messages of d deliveries each, and no more
than it can, X <= Xmax.  The bounds cross at the saturation point R = Xmax / d: the operational laws
of P. J. Denning and J. P. Buzen, The Operational Analysis of Queueing Network Models, 1978, for an
open network.  Xmax is the best throughput measured; it is known to be the system's maximum only
where a higher rate was offered, and not kept.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from mqperf.plan.columns import parameters
from mqperf.plan.pace import RATE, THREAD_RATE
from mqperf.plan.test_cases import unit_of
from mqperf.study.stats.bottleneck import LOAD_GENERATORS, agreed, bottlenecks
from mqperf.study.stats.rules.finding import measured, offered
from mqperf.study.stats.rules.stairs import judged_steps, rounded
from mqperf.study.stats.rules.tester import DISTURBED
from mqperf.study.stats.rules.window import KEEPS_UP
from mqperf.study.stats.summary import with_doubts
from mqperf.study.tables import Tables, at, conform, empty, varied
from mqperf.study.tables.axes import SWEEP
from mqperf.study.tables.axis_words import shown_rate
from mqperf.study.tables.shape import in_order

RATES = (RATE, THREAD_RATE)
"""Parameters that set the offered rate."""

CROSSING_DIGITS = 3
"""Significant digits of a saturation point in text."""

FEWEST_RATES = 2
"""The fewest offered rates that can bracket a saturation point."""


def saturation_rates(tables: Tables, verdicts: pd.DataFrame) -> pd.DataFrame:
    """One row per sweep of offered rates: which were kept, which not, and where it saturates.

    A rate is kept where throughput, as the mean over repeats, is within 2 % of all its deliveries,
    and no fail condition ended a run.
    Where the rate changes in steps within a run, each step is an offered rate.  It is kept if most
    of the repeats leave no backlog of it; the backlog that is left is subtracted from the rate.
    ``verdicts``, the table ``bottlenecks``, tell what ran out at the first rate that was not kept.
    Each combination of other parameters that distinguish points has a row of its own.
    ``doubted`` are the kinds of doubts about the point with the best throughput, on which the
    saturation point rests.
    """
    runs = _runs_with_rate(tables, verdicts)
    doubts = tables.get("doubts", empty("doubts"))
    steps = tables.get("rate_steps", empty("rate_steps"))
    steady = runs[~runs["run"].isin(steps["run"])].assign(held=np.nan)
    steady["kept"] = steady["condition_failed"].isna().map({True: np.nan, False: 0.0})
    curves = pd.concat(
        [part for part in (steady, judged_steps(runs, steps)) if len(part)] or [steady]
    )
    rows = conform("saturation_rates", pd.DataFrame(_rows(curves, doubts)))
    return in_order(rows, *(name for name in parameters() if name in rows.columns))


def middle_rates(tables: Tables) -> pd.Series:
    """Run -> the geometric mean of the rate that it kept and the next higher, of each staircase.

    NaN where one of the two is not known, or load generators were the limit.
    """
    verdicts = tables["bottlenecks"] if "bottlenecks" in tables else bottlenecks(tables)
    all_steps = judged_steps(_runs_with_rate(tables, verdicts), tables["rate_steps"])
    rows = {run: saturation_rate(steps) for run, steps in all_steps.groupby("run")}
    names = ["kept_rate_msg_s", "missed_rate_msg_s", "limit"]
    ends = pd.DataFrame.from_dict(rows, "index").reindex(columns=names)
    known = ends[ends["limit"].ne(LOAD_GENERATORS)].drop(columns="limit").astype("float64")
    return known.prod(axis=1, skipna=False).pow(0.5).reindex(ends.index)


def with_middle_rates(tables: Tables) -> Tables:
    """The tables, with the middle rate of each staircase as its throughput.

    Its other figures are removed: over all of its steps they have no meaning.
    """
    staircases = {*tables.get("rate_steps", empty("rate_steps"))["run"]}
    if not staircases:
        return tables
    messages, latency, cpu = (tables[name] for name in ("messages", "latency", "cpu"))
    figures = messages.filter(regex="^throughput_msg_s").mask(messages["run"].isin(staircases))
    rates = figures["throughput_msg_s"].fillna(messages["run"].map(middle_rates(tables)))
    return {
        **tables,
        "messages": messages.assign(**figures.assign(throughput_msg_s=rates)),
        "latency": latency[~latency["run"].isin(staircases)],
        "cpu": cpu[~cpu["run"].isin(staircases)],
    }


def _runs_with_rate(tables: Tables, verdicts: pd.DataFrame) -> pd.DataFrame:
    """The measured runs with an offered rate and counts, with deliveries per message (``each``)."""
    frame = measured(tables).merge(verdicts[["run", "bottleneck"]], on="run", how="left")
    frame = frame.assign(offered=offered(frame), each=frame["asked"] / frame["sent"])
    return frame[frame[["offered", "throughput_msg_s", "sent"]].notna().all(axis=1)]


def brackets(tables: Tables) -> pd.DataFrame:
    """The rows of ``saturation_rates``, with ``doubted`` for the doubts about both ends.

    Of staircases these are all doubts.  Of sweeps by runs these are the doubts about the rate kept,
    and about a disturbed host at the next rate: undisturbed, the system may keep up with that.
    """
    rates, runs = tables["saturation_rates"].reset_index(drop=True), tables["runs"]
    doubts = tables["doubts"][["point", "kind"]].drop_duplicates()
    in_steps = runs["run"].isin(tables["rate_steps"]["run"])
    keys = [name for name in rates.columns if name in runs.columns]
    points = runs.assign(at=offered(runs), in_steps=in_steps).drop_duplicates("point")
    tried = rates[[*keys, "kept_rate_msg_s"]].reset_index().merge(points, on=keys)
    kept = tried["kept_rate_msg_s"].fillna(0.0)
    next_rate = tried["at"].where(tried["at"] > kept).groupby(tried["index"]).transform("min")
    ends = tried.assign(
        low=tried["in_steps"] | tried["at"].eq(kept), high=tried["at"].eq(next_rate)
    )
    relevant = ends.merge(doubts, on="point")
    relevant = relevant[relevant["low"] | relevant["high"] & relevant["kind"].isin(DISTURBED)]
    kinds = relevant.groupby("index")["kind"].agg(lambda kinds: ", ".join(kinds.unique()))
    return rates.assign(doubted=kinds.reindex(rates.index).astype("string"))


def _rows(frame: pd.DataFrame, doubts: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for _, sweep in frame.groupby(list(SWEEP), sort=False):
        names = [name for name in ("threads", *varied(sweep)) if name not in RATES]
        varying = [name for name in names if len(sweep[name].unique()) > 1]
        for values, curve in sweep.groupby(names, sort=False, dropna=False):
            if curve["offered"].nunique() >= FEWEST_RATES:
                keys = dict(zip(names, values, strict=True))
                row = with_doubts(saturation_rate(curve), curve, doubts)
                keys_text = at(keys, varying)
                text = f"With {keys_text}: {row['text']}" if keys_text else row["text"]
                yield {name: curve[name].iloc[0] for name in SWEEP} | keys | {**row, "text": text}


def saturation_rate(curve: pd.DataFrame) -> Mapping[str, Any]:
    """The row of one curve, from ``offered``, ``each``, throughput and bottleneck of each run.

    ``kept`` tells whether a run kept its rate, where its throughput does not decide that.  Where
    more was finished at a rate above the first that was not kept, that throughput is the upper end:
    a pause is no limit.  Throughput above the offered rate is backlog of the rates before it, so
    the highest rate, if it was not kept, limits that end.
    """
    latencies = ["latency_mean_s", "latency_p99_s"]
    names = ["throughput_msg_s", "each", "kept", "held", *latencies]
    by_rate = curve.groupby("offered")[names].mean().astype(float)
    due = by_rate.index.to_series() * by_rate["each"]
    finished = by_rate["throughput_msg_s"] >= due * (1 - KEEPS_UP)
    kept = by_rate.index[by_rate["kept"].gt(0.5).where(by_rate["kept"].notna(), finished)]
    held = by_rate["held"].fillna(by_rate.index.to_series())[kept]
    low, at_low = (held.max(), held.idxmax()) if len(kept) else (None, None)
    beyond = by_rate[by_rate.index > (kept.max() if len(kept) else 0.0)]
    each, top = float(by_rate["each"].mean()), float(by_rate["throughput_msg_s"].max())
    row = {
        "rates": len(by_rate),
        "deliveries_each": each,
        "kept_rate_msg_s": low,
        **by_rate[latencies].reindex([at_low]).add_prefix("kept_").iloc[0],
        "missed_rate_msg_s": None,
        "top_throughput_msg_s": top,
    }
    unit = f"{unit_of(*curve['test_case'].unique())}/sec"
    text = f"It keeps up with {shown_rate(low or 0.0)} {unit}"
    if beyond.empty:
        return row | {"text": f"{text}, the most that was measured."}
    missed = beyond.index.min()
    limit = agreed(curve[curve["offered"] == missed]["bottleneck"])
    ran_out = f"; what ran out there: {limit}" if limit else ""
    above = beyond["throughput_msg_s"][beyond.index > missed]
    high = min(max([missed, *(above / each)]), beyond.index.max())
    row |= {"missed_rate_msg_s": high, "limit": limit}
    if low is None:
        offered = f"{shown_rate(missed)} {unit}, the least that was offered"
        text = f"Even {offered}, is more than it keeps up with"
    else:
        text += f", and not with {shown_rate(high)}"
        if by_rate["kept"].isna().any():
            crossing = min(max(top / float(by_rate["each"].max()), low), high)
            row["saturation_rate_msg_s"] = crossing
            shown = min(max(rounded(crossing, CROSSING_DIGITS), low), high)
            text += f": the saturation point is at {shown_rate(shown)}"
    return row | {"text": f"{text}{ran_out}."}

"""Where a sweep of offered rates saturates: up to which rate all that is offered is finished.

An open system finishes what it is offered, X <= d R for messages of d deliveries each, and no more
than it can, X <= Xmax.  The bounds cross at the saturation point R = Xmax / d: the operational laws
of P. J. Denning and J. P. Buzen, The Operational Analysis of Queueing Network Models, 1978, for an
open network.  Xmax is the best throughput measured; it is only known to be that of the system where
a rate beyond it was offered, and not kept.
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
"""Parameters that say what is offered."""

CROSSING_DIGITS = 3
"""Significant digits of a saturation point as it is told."""

FEWEST = 2
"""Offered rates below which nothing is bracketed."""


def saturation_rates(tables: Tables, verdicts: pd.DataFrame) -> pd.DataFrame:
    """One row per sweep of offered rates: which were kept, which not, and where it saturates.

    A rate is kept where throughput, mean over the repeats, is within 2 % of all its deliveries, and
    no fail condition ended a run.
    Where the rate changes in steps within a run, each of them is one that was offered, and kept
    where no backlog is left of it, by most of the repeats; less what is left is the rate kept.
    ``verdicts``, the table ``bottlenecks``, tell what ran out at the first rate that was not.
    Where other parameters tell points apart, each of their values has a row of its own.
    ``doubted`` are the kinds of doubts about the point with the best throughput, on which the
    saturation point rests.
    """
    frame = _paced(tables, verdicts)
    doubts = tables.get("doubts", empty("doubts"))
    steps = tables.get("rate_steps", empty("rate_steps"))
    steady = frame[~frame["run"].isin(steps["run"])].assign(held=np.nan)
    steady["kept"] = steady["condition_failed"].isna().map({True: np.nan, False: 0.0})
    whole = pd.concat(
        [part for part in (steady, judged_steps(frame, steps)) if len(part)] or [steady]
    )
    rows = conform("saturation_rates", pd.DataFrame(_rows(whole, doubts)))
    return in_order(rows, *(name for name in parameters() if name in rows.columns))


def middle_rates(tables: Tables) -> pd.Series:
    """Run -> the geometric mean of the rate that it kept and the next, of each staircase.

    NaN where one of both is not known, or load generators were the limit.
    """
    verdicts = tables["bottlenecks"] if "bottlenecks" in tables else bottlenecks(tables)
    climbed = judged_steps(_paced(tables, verdicts), tables["rate_steps"])
    rows = {run: saturation_rate(steps) for run, steps in climbed.groupby("run")}
    names = ["kept_rate_msg_s", "missed_rate_msg_s", "limit"]
    ends = pd.DataFrame.from_dict(rows, "index").reindex(columns=names)
    known = ends[ends["limit"].ne(LOAD_GENERATORS)].drop(columns="limit").astype("float64")
    return known.prod(axis=1, skipna=False).pow(0.5).reindex(ends.index)


def with_middle_rates(tables: Tables) -> Tables:
    """The tables, in which the throughput of a staircase is the middle of where it ends.

    It has no other figures: over all of its steps they tell nothing.
    """
    climbed = {*tables.get("rate_steps", empty("rate_steps"))["run"]}
    if not climbed:
        return tables
    messages, latency, cpu = (tables[name] for name in ("messages", "latency", "cpu"))
    figures = messages.filter(regex="^throughput_msg_s").mask(messages["run"].isin(climbed))
    rates = figures["throughput_msg_s"].fillna(messages["run"].map(middle_rates(tables)))
    return {
        **tables,
        "messages": messages.assign(**figures.assign(throughput_msg_s=rates)),
        "latency": latency[~latency["run"].isin(climbed)],
        "cpu": cpu[~cpu["run"].isin(climbed)],
    }


def _paced(tables: Tables, verdicts: pd.DataFrame) -> pd.DataFrame:
    """The measured runs with a rate that is offered, and what of their messages is known of it."""
    frame = measured(tables).merge(verdicts[["run", "bottleneck"]], on="run", how="left")
    frame = frame.assign(offered=offered(frame), each=frame["asked"] / frame["sent"])
    return frame[frame[["offered", "throughput_msg_s", "sent"]].notna().all(axis=1)]


def brackets(tables: Tables) -> pd.DataFrame:
    """The rows of ``saturation_rates``, ``doubted`` for what is doubted of both ends.

    That is all of staircases.  Of sweeps by runs it is what is of the rates kept, and that others
    used the host at the next one: without them the system may keep up with that.
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
    told = ends.merge(doubts, on="point")
    told = told[told["low"] | told["high"] & told["kind"].isin(DISTURBED)]
    kinds = told.groupby("index")["kind"].agg(lambda kinds: ", ".join(kinds.unique()))
    return rates.assign(doubted=kinds.reindex(rates.index).astype("string"))


def _rows(frame: pd.DataFrame, doubts: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for _, sweep in frame.groupby(list(SWEEP), sort=False):
        names = [name for name in ("threads", *varied(sweep)) if name not in RATES]
        varying = [name for name in names if len(sweep[name].unique()) > 1]
        for values, curve in sweep.groupby(names, sort=False, dropna=False):
            if curve["offered"].nunique() >= FEWEST:
                keys = dict(zip(names, values, strict=True))
                row = with_doubts(saturation_rate(curve), curve, doubts)
                place = at(keys, varying)
                text = f"With {place}: {row['text']}" if place else row["text"]
                yield {name: curve[name].iloc[0] for name in SWEEP} | keys | {**row, "text": text}


def saturation_rate(curve: pd.DataFrame) -> Mapping[str, Any]:
    """The row of one curve: of each run its ``offered``, ``each``, throughput and bottleneck.

    And whether it is ``kept``, as far as its throughput does not tell.  Where more was finished at
    a higher rate than the first that was not kept, that is the end: a pause is no limit.  What that
    one finished beyond its own rate was left by those before it.
    """
    latencies = ["latency_mean_s", "latency_p99_s"]
    names = ["throughput_msg_s", "each", "kept", "held", *latencies]
    by_rate = curve.groupby("offered")[names].mean().astype(float)
    asked = by_rate.index.to_series() * by_rate["each"]
    finished = by_rate["throughput_msg_s"] >= asked * (1 - KEEPS_UP)
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
    least = beyond.index.min()
    limit = agreed(curve[curve["offered"] == least]["bottleneck"])
    ran_out = f"; what ran out there: {limit}" if limit else ""
    later = beyond["throughput_msg_s"][beyond.index > least]
    high = max([least, *(later / each)])
    row |= {"missed_rate_msg_s": high, "limit": limit}
    if low is None:
        offered = f"{shown_rate(least)} {unit}, the least that was offered"
        text = f"Even {offered}, is more than it keeps up with"
    else:
        text += f", and not with {shown_rate(high)}"
        if by_rate["kept"].isna().any():
            crossing = min(max(top / float(by_rate["each"].max()), low), high)
            row["saturation_rate_msg_s"] = crossing
            told = min(max(rounded(crossing, CROSSING_DIGITS), low), high)
            text += f": the saturation point is at {shown_rate(told)}"
    return row | {"text": f"{text}{ran_out}."}

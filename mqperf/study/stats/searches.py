"""Searches: whether a run holds the condition of a plan, and the highest rate at which runs do.

``plan.search`` has the rule by which a search continues and ends; this has the deciding figures.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from math import log
from typing import Any

import pandas as pd

from mqperf.plan import Bracket, Hold, SearchPlan, Verdict
from mqperf.plan.columns.computed import FOLLOWED
from mqperf.plan.latencies import LATENCIES, PERCENTILES
from mqperf.plan.pace import RATE
from mqperf.plan.search import Verdicts, at_rate, by_most, deciding
from mqperf.plan.test_cases import unit_of
from mqperf.record.streams.telling import needed
from mqperf.study.stats.bottleneck import agreed
from mqperf.study.stats.compare import kinds_by_point
from mqperf.study.stats.rules.finding import measured, offered
from mqperf.study.stats.rules.tester import DISTURBED, disturbed
from mqperf.study.stats.search_limit import Tried, limit
from mqperf.study.tables import Tables, conform, varied
from mqperf.study.tables.axes import SWEEP
from mqperf.study.tables.axis_words import shown_rate

Row = Mapping[Any, Any]

POINT_FIGURES = (*FOLLOWED, "repeats")
"""Columns of ``points`` that are copied for the point that holds."""

LIMIT_ENDS = ("limit_rate_msg_s_low", "limit_rate_msg_s_high")
"""The columns of the lower and upper end of a limit."""

SHORTEST_S = 1e-9
"""Latencies below this count as this: they may be zero, or negative by clock error."""

CAUTION = (
    f" Others had CPU of the host whenever that rate did not hold ({', '.join(DISTURBED)}): on a"
    " quiet host, remove those runs, and run the plan again."
)


def verdict(tables: Tables, hold: Hold) -> Verdict:
    """Whether the only run of these tables holds; ``holds`` is None where a figure is missing."""
    frame = _runs_with_figures(tables)
    if len(frame) != 1:
        return Verdict(None, "its figures cannot be read")
    return _judge(frame.iloc[0].to_dict(), hold, disturbed(tables))


def searches(tables: Tables, bottlenecks: pd.DataFrame) -> pd.DataFrame:
    """One row per search of the plan: the highest rate that holds with its figures, and the next.

    ``tables`` need ``points`` and ``doubts``; ``bottlenecks`` tell what ran out at the rate that
    does not hold.  Without a plan that searches there is no row.
    """
    planned = tables.get("planned")
    rows = [] if planned is None else [*_rows(tables, planned, bottlenecks)]
    return conform("searches", pd.DataFrame(rows))


def limits(searches: pd.DataFrame) -> pd.DataFrame:
    """The searches, with one end of the limit also where it lies outside the searched rates."""
    outside = (("beyond", "held_rate_msg_s"), ("below", "broken_rate_msg_s"))
    ends = {
        name: searches[name].mask(searches["search_ends"].eq(where), searches[rate])
        for name, (where, rate) in zip(LIMIT_ENDS, outside, strict=True)
    }
    return searches.assign(**ends)


def _rows(
    tables: Tables, planned: pd.DataFrame, bottlenecks: pd.DataFrame
) -> Iterator[dict[str, Any]]:
    searched = planned.dropna(subset=["search_place"])
    if searched.empty:
        return
    frame = _runs_with_figures(tables)
    varying = varied(frame[frame["point"].isin(planned["point"])])
    noisy_runs = disturbed(tables)
    for _, points_of_search in searched.groupby("search_place"):
        first = points_of_search.iloc[0]
        plan = json.loads(first["search"])
        repeats, search = plan.pop("repeats"), SearchPlan.model_validate(plan)
        runs = frame[frame["point"].isin(points_of_search["point"])]
        judged = [(row, _judge(row, search.hold, noisy_runs)) for row in runs.to_dict("records")]
        verdicts = {
            (float(row["offered"]), int(row["repeat"])): judgement
            for row, judgement in judged
            if judgement.holds is not None
        }
        bracket = search.bracket(verdicts, repeats)
        broken = {
            row["run"]: judgement.text
            for row, judgement in judged
            if row["offered"] == bracket.high and judgement.holds is False
        }
        parameters = {name: runs[name].iloc[0] for name in varying if name != RATE and len(runs)}
        row = {
            **{name: first[name] for name in (*SWEEP, "threads", "search_place", "condition")},
            **parameters,
            "hold": search.hold.words,
            "search_ends": bracket.ends,
            "search_from_msg_s": search.from_msg_s,
            "search_to_msg_s": search.to_msg_s,
            "held_rate_msg_s": bracket.low,
            "broken_rate_msg_s": bracket.high,
            **_limit_rate(bracket, verdicts),
            "search_runs": len(verdicts) or None,
            "broken_by": next(iter(broken.values()), None),
            "limit": _bottleneck(runs, bracket, bottlenecks),
            **_at_held(runs, bracket, verdicts, tables),
        }
        # without runs on a disturbed host, the rate that does not hold might be undecided
        certain = bracket.high is None or by_most(at_rate(bracket.high, verdicts), repeats) is False
        yield row | {"text": sentence(row) + ("" if certain else CAUTION)}


def _at_held(
    runs: pd.DataFrame, bracket: Bracket, verdicts: Verdicts, tables: Tables
) -> dict[str, Any]:
    """The figures of the point that holds, and its doubts."""
    held = runs[runs["offered"] == bracket.low]
    if held.empty:
        return {}
    point = held["point"].iloc[0]
    [figures] = tables["points"][tables["points"]["point"] == point].to_dict("records")
    return {
        "point": point,
        **{name: figures[name] for name in POINT_FIGURES},
        "held_repeats": at_rate(bracket.low, verdicts).count(True),
        "doubted": kinds_by_point(tables).get(point),
    }


def _limit_rate(bracket: Bracket, verdicts: Verdicts) -> dict[str, float]:
    """The limit with its interval, where the search has ended between two rates."""
    if bracket.ends != "found" or bracket.low is None or bracket.high is None:
        return {}
    runs = [
        Tried(rate, bool(judgement.holds), judgement.margin)
        for rate, judgement in deciding(verdicts)
    ]
    estimate = limit(runs, bracket.low, bracket.high)
    name = "limit_rate_msg_s"
    return {name: estimate.rate, f"{name}_low": estimate.low, f"{name}_high": estimate.high}


def _bottleneck(runs: pd.DataFrame, bracket: Bracket, bottlenecks: pd.DataFrame) -> str | None:
    """The bottleneck at the rate that does not hold, where all its runs agree on one."""
    broken = runs.loc[runs["offered"] == bracket.high, "run"]
    return agreed(bottlenecks.loc[bottlenecks["run"].isin(broken), "bottleneck"])


def sentence(row: Row) -> str:
    """What a search found, in one sentence, from its row."""
    unit = f"{unit_of(row['test_case'])}/sec"
    subject, low, high = row["hold"], row["held_rate_msg_s"], row["broken_rate_msg_s"]
    if row["search_ends"] == "below":
        return f"Even {shown_rate(high)} {unit}, the lowest rate searched, does not hold {subject}."
    if row["search_ends"] == "unfinished":
        bounds = [f"it holds at {shown_rate(low)}"] if low else []
        bounds += [f"not at {shown_rate(high)}"] if high else []
        so_far = f" (so far {', '.join(bounds)} {unit})" if bounds else ""
        return f"The search for {subject} is not finished{so_far}: run the plan again."
    finished = f"finished in the window: {shown_rate(row['throughput_msg_s'])} {unit}"
    lead = f"At {subject} it sustains"
    if row["search_ends"] == "beyond":
        least = f"at least {shown_rate(low)} {unit}"
        return f"{lead} {least}, the highest that was searched; {finished}."
    ends = " to ".join(shown_rate(row[f"limit_rate_msg_s_{end}"]) for end in ("low", "high"))
    why = f", where {row['broken_by']}" if pd.notna(row.get("broken_by")) else ""
    limit = f"; what ran out there: {row['limit']}" if pd.notna(row.get("limit")) else ""
    return (
        f"{lead} {ends} {unit} (95 % interval of the limit): most runs hold at {shown_rate(low)},"
        f" and not at {shown_rate(high)}{why}{limit}; {finished}."
    )


def _runs_with_figures(tables: Tables) -> pd.DataFrame:
    """The rows of ``measured`` with the latencies and the ``offered`` rate of each run."""
    frame = measured(tables)
    latency = tables["latency"].drop_duplicates("run")
    columns = [name for name in LATENCIES if name not in frame.columns]
    frame = frame.merge(latency[["run", "samples", *columns]], on="run", how="left")
    return frame.assign(offered=offered(frame))


def _why_unknown(name: str, samples: float) -> str:
    """Why a run does not have the latency of this name."""
    if name not in PERCENTILES or pd.isna(samples):
        return f"no {LATENCIES[name]} is known"
    return (
        f"{LATENCIES[name]} takes {needed(PERCENTILES[name])} messages, and there are"
        f" {samples:.0f}: give the load a longer duration_s"
    )


def _judge(row: Row, hold: Hold, disturbed_runs: Collection[str]) -> Verdict:
    """Whether a run holds, with the figures that do not, or else those that do."""
    disturbed = row["run"] in disturbed_runs
    if pd.notna(row["condition_failed"]):
        return Verdict(False, f"it ended early: {row['condition_failed']}", disturbed)  # noqa: FBT003
    held: list[str] = []
    broken: list[str] = []
    margins: list[float] = []
    for name, most in hold.latencies.items():
        value = row[name]
        if pd.isna(value):
            return Verdict(None, _why_unknown(name, row["samples"]))
        words = f"{LATENCIES[name]} {value * 1e3:.1f} ms"
        (held if value <= most else broken).append(words)
        margins.append(log(max(value, SHORTEST_S) / most))
    slow = bool(broken)
    sent, lost, throughput = (row[name] for name in ("sent", "lost", "throughput_msg_s"))
    rates = (row[name] for name in ("offered_rate_msg_s", "offered"))
    rate = next((known for known in rates if pd.notna(known)), None)
    if rate is None or pd.isna(throughput) or pd.isna(sent) or sent == 0:
        return Verdict(None, "its throughput, or the offered rate, is not known")
    share = float(throughput) / (float(rate) * float(row["asked"]) / float(sent))
    words = f"throughput {share * 100:.1f} % of the offered rate"
    (held if share >= hold.throughput_share else broken).append(words)
    if pd.notna(lost) and lost > hold.lost_share * row["asked"]:
        broken.append(f"{int(lost)} of {int(row['asked'])} messages lost")
    margin = max(margins) if margins and slow == bool(broken) else None
    return Verdict(not broken, ", ".join(broken or held), disturbed, margin)

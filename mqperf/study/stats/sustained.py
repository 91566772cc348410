"""Sustained throughput: the most that a system keeps up with, beside the highest measured.

A point keeps up where servers deliver within 2 % what clients send in the window, nothing waits in
a backlog, the offered rate is kept, and no doubt says that load generators or their host were the
limit.  A thread that waits for each of its messages sends no faster than it is served, and always
keeps up.  Threads that do not wait are known to keep up only where their send rate is known.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from mqperf.plan.test_cases import closed_loops
from mqperf.study.stats.compare import CANNOT_TELL
from mqperf.study.stats.doubt_kinds import SPOILING
from mqperf.study.stats.rules.finding import in_parts
from mqperf.study.stats.rules.tester import DISTURBED
from mqperf.study.tables import Tables, at, conform, varied
from mqperf.study.tables.axes import SWEEP
from mqperf.study.tables.shape import shaped

FIGURE = "throughput_msg_s"

BEST_FIRST = YES, UNKNOWN, TESTER, NO = "yes", CANNOT_TELL, "tester or host", "no"
"""Whether a point keeps up; ``tester or host`` if these were the limit, and not the system."""

FALLS_BEHIND = ("unequal-rates", "backlog", "rate-missed", "senders-blocked")
"""Kinds of doubt that say that the system does not keep up with what it is sent, or offered."""

LIMITED = ("tester-saturated", *DISTURBED, "swapping")
"""Kinds of doubt that say that load generators, or their host, were the limit."""

Row = Mapping[Any, Any]


def keeping_up(points: pd.DataFrame, tables: Tables) -> pd.Series:
    """Whether each of these points keeps up: one of ``YES``, ``UNKNOWN``, ``TESTER`` and ``NO``.

    One repeat that does not keep up is enough for ``NO``, as is one that a fail condition ended.
    Where consumers start late, or the rate comes in cycles or steps, the mean throughput describes
    no part of the run, and the result is ``UNKNOWN``.
    """
    steps = tables["rate_steps"]
    runs, messages, closed = tables["runs"], tables["messages"], closed_loops()
    behind, limited = (doubted_points(tables, kinds) for kinds in (FALLS_BEHIND, LIMITED))
    behind |= {*runs["point"][runs["condition_failed"].notna()]}
    unknown = {*messages["point"][messages["send_rate_msg_s"].isna()]}
    unknown |= {*runs["point"][in_parts(runs)]}
    stairs = {*runs["point"][runs["run"].isin(steps["run"][steps["run"].duplicated()])]}

    def verdict(point: str, test_case: str) -> str:
        if point in behind or point in limited:
            return NO if point in behind else TESTER
        known = test_case in closed or point not in unknown
        return YES if known and point not in stairs else UNKNOWN

    verdicts = map(verdict, points["point"], points["test_case"])
    return pd.Series([*verdicts], points.index, "str")


def best_first(points: pd.DataFrame, tables: Tables) -> pd.DataFrame:
    """The measured points, the one that represents them all first.

    Adds ``keeps_up``; ``any_keeps_up``, the best value of that over these points; ``sound``: no
    doubt makes its throughput doubtful; ``sustained``: it is sound and keeps up; and ``at``: its
    place in the sweep, in words.  Sustained points come before other sound ones, and these before
    doubted ones; within each group the highest throughput comes first.
    """
    measured = points[points[FIGURE].notna()]
    spoiled = doubted_points(tables, SPOILING)
    axes = ("threads", *varied(points))
    places = [at(row, axes) for row in measured[[*axes]].to_dict("records")]
    verdicts, sound = keeping_up(measured, tables), ~measured["point"].isin(spoiled)
    rated = measured.assign(
        keeps_up=verdicts,
        any_keeps_up=next((verdict for verdict in BEST_FIRST if verdicts.eq(verdict).any()), NO),
        sound=sound,
        sustained=sound & verdicts.eq(YES),
        at=pd.Series(places, measured.index, "str"),
    )
    return rated.sort_values(["sustained", "sound", FIGURE], ascending=False, kind="stable")


def highest(best: pd.DataFrame) -> Row | None:
    """The point of ``best_first`` with the highest throughput, whatever its doubts; if any."""
    if best.empty:
        return None
    row: Row = best.sort_values(FIGURE, ascending=False, kind="stable").iloc[0].to_dict()
    return row


def sustained(tables: Tables) -> pd.DataFrame:
    """One row per test case on a layout: the sustained and the highest throughput, with places.

    ``sustained_throughput_msg_s`` is empty where no point is known to keep up, or all that do are
    doubted; ``keeps_up`` tells which of the two.  The highest throughput of a staircase is that of
    a step: ``saturation_rates`` has the rate that it keeps up with.
    """
    return conform("sustained", pd.DataFrame(_rows(tables)))


def in_both(a: pd.DataFrame, b: pd.DataFrame, keys: Sequence[str] = SWEEP) -> pd.DataFrame:
    """The table ``sustained_compared`` of the tables ``sustained`` of two sets of runs.

    Rows are matched by ``keys``, as in a comparison; rows that only one set has are left out.
    """
    on = [name for name in SWEEP if name in keys]
    pairs = a.merge(b, on=on, suffixes=("_a", "_b"))
    value_a, value_b = (pairs[f"sustained_throughput_msg_s_{side}"] for side in "ab")
    both = pairs.assign(
        value_a=value_a,
        value_b=value_b,
        ratio=value_b / value_a.where(value_a > 0),
        highest_a=pairs["highest_throughput_msg_s_a"],
        highest_b=pairs["highest_throughput_msg_s_b"],
    )
    return shaped("sustained_compared", both)


def doubted_points(tables: Tables, kinds: Collection[str]) -> set[str]:
    """The points about which there are doubts of these kinds."""
    doubts = tables["doubts"]
    return {*doubts["point"][doubts["kind"].isin([*kinds])]}


def _rows(tables: Tables) -> Iterator[dict[str, Any]]:
    highest_step = tables["rate_steps"].groupby("point")[FIGURE].max()
    for _, points in tables["points"].groupby(list(SWEEP), sort=False):
        best = best_first(points, tables)
        if (top := highest(best)) is None:
            continue
        head = best.iloc[0]
        figures = {
            "point": head["point"],
            "sustained_throughput_msg_s": head[FIGURE],
            "sustained_at": head["at"],
        }
        yield {
            **{name: head[name] for name in SWEEP},
            **(figures if head["sustained"] else {}),
            "keeps_up": head["any_keeps_up"],
            "highest_throughput_msg_s": highest_step.get(top["point"], top[FIGURE]),
            "highest_at": top["at"],
        }

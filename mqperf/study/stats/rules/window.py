"""Rates over the window: whether they can last, and whether they were steady."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from mqperf.plan.test_cases import closed_loops, unit_of, with_replies
from mqperf.study.stats.rules.finding import (
    IN_FLIGHT_PER_THREAD,
    RUN_KEYS,
    Finding,
    consumed_after,
    each,
    in_cycles,
    in_parts,
    measured,
    of_actions,
    one_way,
    steady,
)
from mqperf.study.tables import Tables

KEEPS_UP = 0.02
"""Share by which deliveries may differ from sends over the window; recorded runs without a backlog
differ by less than 1 %."""

BUSY = 20.0
"""Expected messages in a time whose absence is not chance: one in 5e8 by Poisson."""

TURNS = 3
"""Threads that wait may all finish at once, and then none for a turn.  So a time without a message
is judged only if this many messages of each thread were expected in it, and in the window."""


UNDISTURBED = "undisturbed"
"""The table with the result of ``undisturbed``, where rows of single seconds are not kept."""


def unequal_rates(tables: Tables) -> Iterator[Finding]:
    """One-way messages received faster, or slower, than they were sent in the same window.

    Messages in flight at the ends of the window are allowed for.  Consumers that start late, or
    have a valley after a peak, may receive more, as messages were sent before.  A message that is
    delivered several times counts as often; those that an action of the plan cost are subtracted.
    """
    frame = steady(one_way(tables)).dropna(subset=["throughput_msg_s", "send_rate_msg_s"])
    planned = of_actions(tables, frame, "lost").fillna(frame["lost"])
    lost_rate = (planned / frame["window_s"]).fillna(0.0).astype("float64")
    sent = frame["send_rate_msg_s"] * frame["each_has"] - lost_rate
    edges = (IN_FLIGHT_PER_THREAD * frame["threads"] / frame["window_s"]).fillna(0.0)
    difference = frame["throughput_msg_s"] - sent
    draining = difference.gt(0) & in_parts(frame)  # a backlog that the plan let grow
    wrong = difference.abs().gt(sent * KEEPS_UP + edges) & ~draining
    for row in each(frame.assign(to_arrive=sent)[wrong]):
        faster = row.throughput_msg_s > row.to_arrive
        why = (
            "a backlog from before the window was delivered in it, and the rate cannot last"
            if faster
            else "messages of the window were still waiting at its end, or were lost"
        )
        yield Finding(
            row.run,
            f"servers received {row.throughput_msg_s:.0f} {unit_of(row.test_case)}/sec in the"
            f" window, clients sent {row.to_arrive:.0f}: {why}",
            {"throughput_msg_s": row.throughput_msg_s, "send_rate_msg_s": row.send_rate_msg_s},
        )


def empty_seconds(tables: Tables) -> Iterator[Finding]:
    """Seconds of the window in which nothing was finished, neither by chance nor by an action.

    The findings have the time that nodes collected garbage, where it is recorded.
    """
    frame = undisturbed(tables)
    steady_runs = steady(measured(tables)).loc[lambda runs: ~in_cycles(runs), "run"]
    suspects = frame[frame["run"].isin(steady_runs) & frame["longest"].gt(0)]
    rate = suspects["mean"] * suspects["seconds"] / (suspects["seconds"] - suspects["longest"])
    waits = suspects["test_case"].isin(closed_loops())
    turns = (TURNS * suspects["threads"]).where(waits, 0).fillna(0)
    enough = (suspects["mean"] * suspects["seconds"]).ge(turns)
    improbable = enough & (rate * suspects["longest"]).ge(turns.clip(lower=BUSY))
    paused = tables["node_summary"].dropna(subset=["paused_s"]).groupby("run")["paused_s"].sum()
    for row in each(suspects[improbable]):
        figures: dict[str, int | float] = {
            "seconds": row.seconds,
            "empty_seconds": row.empty,
            "longest_s": row.longest,
            "most_msg": int(row.most),
        }
        pause_text = ""
        if row.run in paused.index:
            figures["paused_s"] = round(float(paused[row.run]), 3)
            pause_text = f"; garbage collection paused its nodes for {figures['paused_s']:g} s"
        yield Finding(
            row.run,
            f"in {row.empty} of the {row.seconds} seconds of the window no message was finished,"
            f" and {row.most:.0f} in the busiest: the rate is a mean over bursts{pause_text}",
            figures,
        )


def undisturbed(tables: Tables) -> pd.DataFrame:
    """One row per run with seconds in its window that no action disturbed, and its keys.

    ``seconds`` is their number, ``empty`` that of those in which no message was finished,
    ``longest`` the longest sequence of these; ``mean`` and ``most`` are messages in a second.
    """
    if (cached := tables.get(UNDISTURBED)) is not None:
        return cached
    intervals = tables["intervals"]
    counts = without_actions(finished(intervals), tables["outages"])
    start_s = tables["runs"].drop_duplicates("run").set_index("run").pipe(consumed_after)
    index = counts.index.to_frame()
    runs = counts[~index["start_s"].lt(index["run"].map(start_s))].groupby("run", sort=False)
    rows = [
        {
            "run": run,
            "seconds": len(counts),
            "empty": int((counts == 0).sum()),
            "longest": _longest(counts),
            "mean": counts.mean(),
            "most": counts.max(),
        }
        for run, counts in runs
    ]
    columns = ["run", "seconds", "empty", "longest", "mean", "most"]
    owners = intervals.drop_duplicates("run")[[*RUN_KEYS]]
    return owners.merge(pd.DataFrame(rows, columns=columns), on="run")


def _longest(counts: pd.Series) -> int:
    """The length of the longest sequence of seconds without a message."""
    start = counts.index.get_level_values("start_s").to_numpy()
    busy = np.append(np.diff(start) > 1, True) | (counts.to_numpy() > 0)
    empty = (counts == 0).to_numpy().astype(int)
    return int(np.add.reduceat(empty, np.append(0, np.flatnonzero(busy)[:-1] + 1)).max())


def without_actions(counts: pd.Series, outages: pd.DataFrame) -> pd.Series:
    """The seconds that do not overlap an action of the plan, or an outage caused by one."""
    start = counts.index.get_level_values("start_s")
    runs = counts.index.get_level_values("run")
    disturbed = np.zeros(len(counts), dtype=bool)
    for row in each(outages):
        # an outage may begin as late as the action ends, and is over when throughput is back
        until = row.ended_s + np.nanmax([row.outage_s, row.recovery_s])
        if pd.isna(row.recovery_s) and pd.notna(row.level_msg_s):
            until = np.inf  # not-recovered is a doubt of its own
        disturbed |= (runs == row.run) & (start + 1 > row.began_s) & (start < until)
    return counts[~disturbed]


def finished(intervals: pd.DataFrame) -> pd.Series:
    """Messages finished in each second of the window, by run and second."""
    done = (
        intervals["stream"]
        .eq("round-trip")
        .where(intervals["test_case"].isin(with_replies()), intervals["stream"].eq("received"))
    )
    inside = intervals[done.fillna(value=False) & intervals["phase"].eq("window")]
    counts: pd.Series = inside.groupby(["run", "start_s"], sort=False)["count"].sum()
    return counts.astype(float)

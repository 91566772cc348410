"""Rates over the window: whether they can last, and whether they held all the time."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from mqperf.stats.rules.finding import Finding, each, measured, one_way
from mqperf.stats.rules.queueing import IN_FLIGHT_PER_THREAD
from mqperf.tables import Tables
from mqperf.test_cases import with_replies

KEEPS_UP = 0.02
"""Share by which deliveries may differ from sends over the window; recorded runs without a backlog
stay within a hundredth."""

BUSY = 20.0
"""Messages a second from which on a second without any is no chance: one in 5e8 by Poisson."""


def unequal_rates(tables: Tables) -> Iterator[Finding]:
    """One-way messages received faster, or slower, than they were sent in the same window.

    Those in flight at the ends of the window may make a difference, too.
    """
    frame = one_way(tables).dropna(subset=["throughput_msg_s", "send_rate_msg_s"])
    edges = (IN_FLIGHT_PER_THREAD * frame["threads"] / frame["window_s"]).fillna(0.0)
    apart = frame["throughput_msg_s"] - frame["send_rate_msg_s"]
    wrong = apart.abs() > frame["send_rate_msg_s"] * KEEPS_UP + edges
    for row in each(frame[wrong]):
        faster = row.throughput_msg_s > row.send_rate_msg_s
        why = (
            "a backlog from before the window was delivered in it, and the rate cannot last"
            if faster
            else "messages of the window were still waiting at its end, or were lost"
        )
        yield Finding(
            row.run,
            f"servers received {row.throughput_msg_s:.0f} msg/sec in the window, clients sent"
            f" {row.send_rate_msg_s:.0f}: {why}",
            {"throughput_msg_s": row.throughput_msg_s, "send_rate_msg_s": row.send_rate_msg_s},
        )


def empty_seconds(tables: Tables) -> Iterator[Finding]:
    """Seconds of the window in which nothing was finished, neither by chance nor by plan."""
    runs = set(measured(tables)["run"])
    undisturbed = _undisturbed(finished(tables["intervals"]), tables["outages"])
    for run, counts in undisturbed.groupby("run", sort=False):
        if run not in runs or counts.mean() < BUSY or (counts > 0).all():
            continue
        empty = int((counts == 0).sum())
        yield Finding(
            str(run),
            f"in {empty} of the {len(counts)} seconds of the window no message was finished, and"
            f" {counts.max():.0f} in the fullest: the rate is that of bursts",
            {"seconds": len(counts), "empty_seconds": empty, "most_msg": int(counts.max())},
        )


def _undisturbed(counts: pd.Series, outages: pd.DataFrame) -> pd.Series:
    """The seconds that no action of the plan, and no outage by one, reaches into."""
    start = counts.index.get_level_values("start_s")
    runs = counts.index.get_level_values("run")
    disturbed = np.zeros(len(counts), dtype=bool)
    for row in each(outages):
        until = row.ended_s + row.outage_s  # it may begin as late as the action ends
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

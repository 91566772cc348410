"""Causes that leave resources idle: limits on messages that are not confirmed or acknowledged.

The number of messages in flight is throughput x the time that each is in flight (J. D. C. Little,
1961): where it is as large as a window allows, the window limits throughput.
"""

from collections.abc import Iterator

import pandas as pd

from mqperf.study.stats.rules.finding import each
from mqperf_diagnosis.study.evidence import Cause, Evidence, percent

FULL = 0.7
"""Share of a window of confirms that is full, by the median time, which is below the mean."""

HELD = 0.9
"""Share of a prefetch that is full: messages without acknowledgement, in the mean over looks."""

FEW = 30
"""Largest prefetch that is a limit when it is full; with a larger one, the consumer is slow."""

CREDIT = 0.3
"""Share of looks with publishers waiting for credit from which on flow control limits them."""


def confirms(run: Evidence) -> Iterator[Cause]:
    """Clients with a full window of unconfirmed messages, only without an offered rate."""
    window = run.parameter("confirms")
    if not window or pd.notna(run.offered_msg_s):
        return
    time_s = run.rows("latency").get("confirm_p50_s", pd.Series(dtype="float64")).dropna()
    if time_s.empty:
        return
    in_flight = run.run.send_rate_msg_s * float(time_s.iloc[0])
    allowed = float(window) * run.run.threads
    if in_flight >= FULL * allowed:
        yield Cause(
            name="small confirm window",
            at="client",
            share=min(1.0, in_flight / allowed),
            because=f"{in_flight:,.1f} of the {allowed:,.0f} messages that may be unconfirmed were,"
            f" and a confirm took {1e3 * float(time_s.iloc[0]):.2f} ms",
            test=f"raise confirms to {10 * int(window)}",
        )


def prefetch(run: Evidence) -> Iterator[Cause]:
    """Consumers with a full prefetch, while more messages are ready for them."""
    window = run.parameter("prefetch")
    if window is None or run.parameter("acks") in {None, "auto"}:
        return
    for row in each(run.figures("unacked")):
        ready, consumers = (
            run.figure(row.process, name, row.object) or 0.0 for name in ("ready", "consumers")
        )
        allowed = float(window) * consumers
        if not allowed or ready < 1 or row.value < HELD * allowed:
            continue
        few = window <= FEW
        yield Cause(
            name="small prefetch" if few else "slow consumer",
            at="server",
            share=min(1.0, row.value / allowed),
            because=f"consumers of {row.object} held {row.value:,.1f} of the {allowed:,.0f}"
            f" messages that they may (prefetch), and {ready:,.0f} were ready for them",
            test=f"raise prefetch to {10 * int(window)}"
            if few
            else "add consumers: processes, or hosts of servers",
        )
        return


def flow(run: Evidence) -> Iterator[Cause]:
    """Publishers that wait for credit."""
    for row in each(run.reached("connection held", CREDIT)):
        yield Cause(
            name="flow control",
            at=row.process,
            share=min(1.0, row.value),
            because=f"a connection on {row.process} waited for credit in {percent(row.value)} of"
            " samples",
            test="send at an offered rate (rate_msg_s), and see who fills first as it rises",
        )


RULES = (prefetch, confirms, flow)
"""The rules, in the order in which an earlier cause leads to a later one."""

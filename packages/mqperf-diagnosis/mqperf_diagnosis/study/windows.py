"""Causes that leave everything idle: who may send, or is given, no more until somebody answers.

The number of messages under way is throughput x the time that each is (J. D. C. Little, 1961):
where it is what a window allows, throughput is that of the window.
"""

from collections.abc import Iterator

import pandas as pd

from mqperf.study.stats.rules.finding import each
from mqperf_diagnosis.study.evidence import Cause, Evidence, percent

FULL = 0.7
"""Of a window of confirms: by their median time, which is below the mean of Little's law."""

HELD = 0.9
"""Of a prefetch: messages without acknowledgement, on average over the looks."""

FEW = 30
"""A full prefetch of so many or fewer is itself what a consumer waits for; with more it is slow."""

CREDIT = 0.3
"""Share of looks at which publishers wait for credit from which on flow control holds them."""


def confirms(run: Evidence) -> Iterator[Cause]:
    """Clients with as many unconfirmed messages as they may have; with a rate, they are late."""
    window = run.parameter("confirms")
    time_s = run.rows("latency").get("confirm_p50_s", pd.Series(dtype="float64")).dropna()
    if not window or time_s.empty or pd.notna(run.offered_msg_s):
        return
    under_way = run.run.send_rate_msg_s * float(time_s.iloc[0])
    allowed = float(window) * run.run.threads
    if under_way >= FULL * allowed:
        yield Cause(
            name="small confirm window",
            at="client",
            share=min(1.0, under_way / allowed),
            because=f"{under_way:,.1f} of the {allowed:,.0f} messages that may be unconfirmed were,"
            f" and a confirm took {1e3 * float(time_s.iloc[0]):.2f} ms",
            test=f"raise confirms to {10 * int(window)}",
        )


def prefetch(run: Evidence) -> Iterator[Cause]:
    """Consumers that hold all that they may, while more is ready for them."""
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
    """Publishers that wait for credit, where nobody who gives it is seen to be full."""
    rows = run.figures("connection held")
    for row in each(rows[rows["value"].ge(CREDIT)]):
        yield Cause(
            name="flow control",
            at=row.process,
            share=min(1.0, row.value),
            because=f"a connection on {row.process} waited for credit in {percent(row.value)} of"
            " samples",
            test="send at an offered rate (rate_msg_s), and see who fills first as it rises",
        )


RULES = (prefetch, confirms, flow)
"""In the order in which one follows from the other."""

"""Offered rates: whether clients kept them, and sent messages at the times they were due."""

from collections.abc import Iterator

import pandas as pd

from mqperf.plan.pace import COUNT
from mqperf.plan.test_cases import unit_of
from mqperf.study.stats.rules.finding import Finding, detail, each, measured, offered, steady
from mqperf.study.tables import Tables

MISSED_SHARE = 0.01
"""Share by which the send rate of a window may differ from the offered rate."""

EDGE_MESSAGES = 2
"""Messages by which the count may differ, as a window begins and ends between two messages."""

LATE_S = 0.01
LATE_SHARE = 0.5
"""Delay of the handover that counts as a pause of the client, and its least share of the latency: a
delay of up to a hundredth of a second is that of a busy machine."""


def rate_missed(tables: Tables) -> Iterator[Finding]:
    """Clients that sent at a higher or lower rate than offered."""
    for row in each(missed(steady(measured(tables)))):
        too_fast = row.send_rate_msg_s > row.offered_rate_msg_s
        why = (
            "they caught up on delayed messages, or did not keep to the rate"
            if too_fast
            else "the broker slowed them down, or they lacked CPU"
        )
        yield Finding(
            row.run,
            f"clients sent {row.send_rate_msg_s:.0f} {unit_of(row.test_case)}/sec in the window"
            f" instead of the offered {row.offered_rate_msg_s:.0f}: {why}",
            {"send_rate_msg_s": row.send_rate_msg_s, "offered_rate_msg_s": row.offered_rate_msg_s},
        )


def count_missed(tables: Tables) -> Iterator[Finding]:
    """Loads by count that ended before all messages were sent, or sent more."""
    frame = measured(tables)
    if COUNT not in frame.columns:
        return
    frame = frame.dropna(subset=[COUNT, "sent"])
    for row in each(frame[frame["sent"] != frame[COUNT]]):
        why = (
            f"the load ended at its time limit, {row.asked_s:g} s plus warm-up and cool-down"
            if row.sent < row.message_count
            else "more than planned"
        )
        yield Finding(
            row.run,
            f"{row.sent} of {row.message_count} messages were sent: {why}",
            {"message_count": int(row.message_count), "sent": int(row.sent)},
        )


def missed(loads: pd.DataFrame) -> pd.DataFrame:
    """The rows whose clients did not send at the offered rate in the window."""
    frame = loads.dropna(subset=["offered_rate_msg_s", "send_rate_msg_s"])
    edges = (EDGE_MESSAGES / frame["window_s"]).fillna(0.0)
    difference = (frame["send_rate_msg_s"] - frame["offered_rate_msg_s"]).abs()
    return frame[difference > MISSED_SHARE * frame["offered_rate_msg_s"] + edges]


def sender_late(tables: Tables) -> Iterator[Finding]:
    """Runs whose messages waited at the client for most of their latency."""
    frame = steady(measured(tables))
    late = frame["handover_p99_s"].fillna(0.0)
    slow = frame["latency_p99_s"].fillna(frame["latency_max_s"]).fillna(0.0)
    wrong = (late > LATE_S) & (late > LATE_SHARE * slow)
    for row in each(frame[wrong]):
        yield Finding(
            row.run,
            f"1 % of messages were handed over more than {row.handover_p99_s * 1e3:.0f} ms after"
            " they were due: the latency is that of clients that could not send, not of the queue",
            {"handover_p99_s": row.handover_p99_s},
        )


def service_time(tables: Tables) -> Iterator[Finding]:
    """Latencies of imported runs that leave out how late messages were sent.

    Tools that time a message from its sending miss the wait for a sender that paused (coordinated
    omission: G. Tene, How Not to Measure Latency, 2013).  mqperf counts from when it was due.
    """
    frame = measured(tables)
    rates = offered(frame)
    latency = frame["latency_mean_s"].fillna(frame["latency_p99_s"])
    timed = frame["status"].eq("published") & rates.notna() & latency.notna()
    for row in each(frame.assign(rate=rates)[timed]):
        yield Finding(
            row.run,
            f"at an offered rate of {row.rate:.0f} {unit_of(row.test_case)}/sec the latency counts"
            " from the sending of a message, not from when it was due: it does not include the"
            " delay of late senders",
            {"rate_msg_s": row.rate},
        )


def senders_blocked(tables: Tables) -> Iterator[Finding]:
    """Brokers that blocked clients from sending."""
    events = tables["events"]
    for run, rows in events[events["what"] == "blocked"].groupby("run", sort=False):
        first = next(each(rows))
        details = detail(first)
        has_time = not pd.isna(first.time_s)
        at = f", first {first.time_s:.1f} s after the start of the window" if has_time else ""
        why = f": {details['why']}" if details.get("why") else ""
        times = f"{len(rows)} times" if len(rows) > 1 else "once"
        yield Finding(
            str(run), f"the broker blocked clients {times}{at}{why}", {"times": len(rows)}
        )

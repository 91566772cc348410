"""Conservation: what goes in comes out, and everybody who was asked to report did."""

from collections.abc import Iterator

import pandas as pd

from mqperf.stats.rules.finding import Finding, calls, each, measured
from mqperf.tables import Tables, whole
from mqperf.test_cases import with_replies

SHORT_S = 0.05
"""The runner ends a window by the clock; more than this is not its jitter."""


def received_not_sent(tables: Tables) -> Iterator[Finding]:
    """Messages that nobody of the run sent, or more received, redeliveries apart, than sent."""
    frame = measured(tables)
    for row in each(frame[frame["foreign"] > 0]):
        yield Finding(
            row.run,
            f"{row.foreign} messages were received or answered that no client of this run sent",
            {"sent": int(row.sent), "received": int(row.received), "foreign": int(row.foreign)},
        )
    frame = frame[frame["foreign"].isna()]
    surplus = frame["received"] - frame["duplicates"].fillna(0) - frame["sent"]
    for row in each(frame.assign(surplus=surplus)[surplus > 0]):
        yield Finding(
            row.run,
            f"servers received {row.received} messages, {row.surplus} more than clients sent",
            {"sent": int(row.sent), "received": int(row.received)},
        )


def roundtrip_not_received(tables: Tables) -> Iterator[Finding]:
    """More replies than messages that servers received."""
    frame = calls(tables)
    for row in each(frame[frame["round_trip"] > frame["received"]]):
        yield Finding(
            row.run,
            f"clients got {row.round_trip} replies to {row.received} messages that servers"
            f" received, {row.round_trip - row.received} too many",
            {"received": int(row.received), "round_trip": int(row.round_trip)},
        )


def lost(tables: Tables) -> Iterator[Finding]:
    """Messages that never arrived, and a loss that the counts contradict."""
    frame = measured(tables)
    answered = frame["test_case"].isin(with_replies())
    arrived = frame["received"].where(~answered, frame["round_trip"] + frame["errors"].fillna(0))
    frame = frame.assign(missing=frame["sent"] - arrived)
    for row in each(frame[frame["lost"] > 0]):
        share = f" ({100 * row.lost / row.sent:.2g} %)" if row.sent else ""
        yield Finding(
            row.run,
            f"{row.lost} of {row.sent} messages were lost{share}",
            {"sent": int(row.sent), "lost": int(row.lost)},
        )
    stated = frame[frame["foreign"].isna()]
    for row in each(stated[stated["lost"] != stated["missing"]]):
        yield Finding(
            row.run,
            f"{row.lost} messages are said to be lost, but the counts give {row.missing}",
            {"sent": int(row.sent), "lost": int(row.lost), "by_counts": int(row.missing)},
        )


def duplicates(tables: Tables) -> Iterator[Finding]:
    """Messages that servers handled more than once."""
    frame = measured(tables)
    for row in each(frame[frame["duplicates"] > 0]):
        yield Finding(
            row.run,
            f"{row.duplicates} of {row.sent} messages were handled more than once",
            {"sent": int(row.sent), "duplicates": int(row.duplicates)},
        )


def negative_lost(tables: Tables) -> Iterator[Finding]:
    """Fewer than no messages lost."""
    frame = measured(tables)
    for row in each(frame[frame["lost"] < 0]):
        yield Finding(
            row.run,
            f"{row.lost} messages were lost: {-row.lost} more arrived than were sent",
            {"lost": int(row.lost)},
        )


def client_errors(tables: Tables) -> Iterator[Finding]:
    """Attempts that ended in an error at the client."""
    frame = measured(tables)
    for row in each(frame[frame["errors"] > 0]):
        yield Finding(
            row.run,
            f"{row.errors} of {row.sent} attempts ended in an error at the client",
            {"sent": int(row.sent), "errors": int(row.errors)},
        )


def missing_process(tables: Tables) -> Iterator[Finding]:
    """Fewer load generator processes reported than were started, in failed attempts too."""
    runs = tables["runs"]
    for row in each(runs[(runs["reported"] < runs["expected"]).fillna(value=False)]):
        yield Finding(
            row.run,
            f"{row.expected - row.reported} of {row.expected} load generator processes did not"
            " report; counts and throughput are without them",
            {"expected": int(row.expected), "reported": int(row.reported)},
        )


def failed_run(tables: Tables) -> Iterator[Finding]:
    """Attempts that failed, and whether a later one made up for them."""
    runs = tables["runs"]
    turn = ["point", "repeat", "control_run"]
    done = set(whole(runs)[turn].itertuples(index=False, name=None))
    for row in each(runs[runs["status"] == "failed"]):
        made_up = (row.point, row.repeat, row.control_run) in done
        outcome = "another attempt succeeded" if made_up else "no other attempt made up for it"
        failure = "no reason recorded" if pd.isna(row.failure) else str(row.failure)
        yield Finding(row.run, f"the attempt failed ({failure}); {outcome}", {"failure": failure})


def short_window(tables: Tables) -> Iterator[Finding]:
    """A measured window of another length than the plan asked for."""
    frame = measured(tables)
    for row in each(frame[(frame["window_s"] - frame["asked_s"]).abs() > SHORT_S]):
        yield Finding(
            row.run,
            f"the measured window is {row.window_s:.2f} s, {row.asked_s:.2f} s were asked for",
            {"asked_s": row.asked_s, "window_s": row.window_s},
        )


def incomplete(tables: Tables) -> Iterator[Finding]:
    """Whole runs, and rows of reports, without one of their main figures."""
    names = {
        "sent": "sent",
        "received": "received",
        "throughput_msg_s": "throughput",
        "latency_mean_s": "latency",
    }
    frame = measured(tables)
    for run, absent in zip(frame["run"], frame[list(names)].isna().to_numpy(), strict=True):
        missing = [name for name, gone in zip(names.values(), absent, strict=True) if gone]
        if missing:
            yield Finding(run, f"it has no figure of {', '.join(missing)}")

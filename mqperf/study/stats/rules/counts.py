"""Conservation of messages: counts agree, and every process and run reported."""

from collections.abc import Iterator

import pandas as pd

from mqperf.plan.test_cases import with_replies, with_servers
from mqperf.study.stats.rules.finding import Finding, Row, calls, each, found, measured, of_actions
from mqperf.study.tables import Tables, completed

SHORT_S = 0.05
"""Difference of the window's length from the plan that is more than jitter of the runner."""


def received_not_sent(tables: Tables) -> Iterator[Finding]:
    """Messages that no client of the run sent, or more received than sent, without duplicates."""
    frame = measured(tables)
    for row in each(frame[frame["foreign"] > 0]):
        yield Finding(
            row.run,
            f"{row.foreign} messages were received or answered that no client of this run sent",
            {
                name: int(value)
                for name in ("sent", "received", "foreign")
                if pd.notna(value := getattr(row, name))
            },
        )
    frame = frame[frame["foreign"].isna()]
    surplus = frame["received"] - frame["duplicates"].fillna(0) - frame["asked"]
    yield from found(
        frame.assign(surplus=surplus)[surplus > 0],
        "servers received {received} messages, {surplus} more than clients sent",
        *("sent", "received"),
    )


def roundtrip_not_received(tables: Tables) -> Iterator[Finding]:
    """More replies than messages that servers received."""
    frame = calls(tables)
    surplus = frame["round_trip"] - frame["received"]
    yield from found(
        frame.assign(surplus=surplus)[surplus > 0],
        "clients got {round_trip} replies to {received} messages that servers received, {surplus}"
        " too many",
        *("received", "round_trip"),
    )


def lost(tables: Tables) -> Iterator[Finding]:
    """Messages that never arrived, and a loss that the counts contradict.

    Losses that an action of the plan caused are results, and no doubts.
    """
    frame = measured(tables)
    unplanned = frame["lost"] - of_actions(tables, frame, "lost")
    answered = frame["test_case"].isin(with_replies())
    arrived = frame["received"].where(~answered, frame["round_trip"] + frame["errors"].fillna(0))
    frame = frame.assign(by_counts=frame["asked"] - arrived, unplanned=unplanned)
    for row in each(frame[frame["unplanned"] > 0]):
        share = f" ({100 * row.unplanned / row.asked:.2g} %)" if row.asked else ""
        unit = "messages" if pd.isna(row.deliveries) else "deliveries"
        yield Finding(
            row.run,
            f"{row.unplanned} of {row.asked} {unit} were lost{share}{_of_plan(row.lost, row)}",
            {"sent": int(row.sent), "lost": int(row.unplanned)},
        )
    stated = frame[frame["foreign"].isna()]
    yield from found(
        stated[stated["lost"] != stated["by_counts"]],
        "the stated loss is {lost} messages, but the counts give {by_counts}",
        *("sent", "lost", "by_counts"),
    )


def duplicates(tables: Tables) -> Iterator[Finding]:
    """Messages that servers handled more than once; each further copy counts."""
    frame = measured(tables)
    yield from found(
        frame[frame["duplicates"] > 0],
        "servers handled copies of messages: {duplicates} in addition to the {sent} sent",
        *("sent", "duplicates"),
    )


def negative_lost(tables: Tables) -> Iterator[Finding]:
    """A negative number of lost messages."""
    frame = measured(tables)
    yield from found(
        frame.assign(more=-frame["lost"])[frame["lost"] < 0],
        "{lost} messages were lost: {more} more arrived than were sent",
        "lost",
    )


def client_errors(tables: Tables) -> Iterator[Finding]:
    """Attempts that ended in an error at the client, without those that an action caused."""
    frame = measured(tables)
    frame = frame.assign(unplanned=frame["errors"] - of_actions(tables, frame, "errors"))
    for row in each(frame[frame["unplanned"] > 0]):
        yield Finding(
            row.run,
            f"{row.unplanned} of {row.sent} attempts ended in an error at the client"
            f"{_of_plan(row.errors, row)}",
            {"sent": int(row.sent), "errors": int(row.unplanned)},
        )


def _of_plan(count: int, row: Row) -> str:
    """A phrase for the messages that actions of the plan cost, if any."""
    planned = count - row.unplanned
    return f", in addition to {planned} during actions of the plan" if planned else ""


def missing_process(tables: Tables) -> Iterator[Finding]:
    """Fewer load generator processes reported than were started, in failed attempts too."""
    runs = tables["runs"]
    silent = (runs["expected"] - runs["reported"]).fillna(0)
    yield from found(
        runs.assign(silent=silent)[silent > 0],
        "{silent} of {expected} load generator processes did not report; counts and throughput do"
        " not include them",
        *("expected", "reported"),
    )


def failed_run(tables: Tables) -> Iterator[Finding]:
    """Attempts that failed, and whether another attempt at the same run succeeded."""
    runs = tables["runs"]
    keys = ["point", "repeat", "control_run"]
    done = set(completed(runs)[keys].itertuples(index=False, name=None))
    for row in each(runs[runs["status"] == "failed"]):
        retried = (row.point, row.repeat, row.control_run) in done
        outcome = "another attempt succeeded" if retried else "no other attempt succeeded"
        failure = "no reason recorded" if pd.isna(row.failure) else str(row.failure)
        yield Finding(row.run, f"the attempt failed ({failure}); {outcome}", {"failure": failure})


def short_window(tables: Tables) -> Iterator[Finding]:
    """Measured windows of another length than planned, unless a rule of the plan ended them."""
    frame = measured(tables)
    frame = frame[frame["condition_failed"].isna() & frame["all_sent_s"].isna()]
    yield from found(
        frame[(frame["window_s"] - frame["asked_s"]).abs() > SHORT_S],
        "the measured window is {window_s:.2f} s instead of {asked_s:.2f} s",
        *("asked_s", "window_s"),
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
    is_missing = frame[list(names)].isna()
    is_missing["received"] &= frame["test_case"].isin(with_servers())
    for run, absent in zip(frame["run"], is_missing.to_numpy(), strict=True):
        missing = [name for name, lacks in zip(names.values(), absent, strict=True) if lacks]
        if missing:
            yield Finding(run, f"there is no figure for {', '.join(missing)}")

"""The table ``priorities``, and its contradictions with the record of every message."""

from collections.abc import Iterator
from math import sqrt
from typing import TYPE_CHECKING, Any

from mqperf.plan.columns import Table, count, text
from mqperf.record import Whole
from mqperf.record.counts import read_counts
from mqperf.study.tables.within_run import quantiles
from mqperf_amqp_0_9_1.onhost.priorities import URGENT, USUAL
from mqperf_amqp_0_9_1.plan.parameters import GENERATOR, of_case

if TYPE_CHECKING:
    from mqperf.study.tables.of_run import Reading

STRANGER = "stranger"

UNEVEN = 8
"""Allowed difference of the urgent messages of a thread from their share.  They are distributed so
evenly over message numbers that any 10,000 in succession differ by one or two."""


def _share(run: Whole) -> float | None:
    """Return the share of urgent messages of a run; None if messages have no priority."""
    return of_case(run.case).urgent_share if run.case.generator == GENERATOR.name else None


def disagreements(run: Whole) -> Iterator[str]:
    """Yield servers whose messages by priority are not all received ones, or not in the share."""
    if (share := _share(run)) is None:
        return
    for process in run.facts.processes:
        if process.kind != "server":
            continue
        record = read_counts(run.folder / f"{process.label}.counts")
        by_sender = {
            name: numbers.count for name, numbers in record.numbers.get("received", {}).items()
        }
        received = sum(count for name, count in by_sender.items() if name != STRANGER)
        streams = (record.streams.get(name) for name in (URGENT, USUAL))
        urgent, usual = (0 if stream is None else stream.count for stream in streams)
        if urgent + usual != received:
            yield f"{process.label}: {urgent} urgent + {usual} usual, but {received} received"
        elif abs(urgent - share * received) > UNEVEN * len(by_sender) + sqrt(received):
            yield f"{process.label}: {urgent} of {received} urgent, no share of {share:.4g}"


def rows(reading: "Reading") -> Iterator[dict[str, Any]]:
    """Yield a row for each priority of a run whose messages have priorities; none for others."""
    if _share(reading.run) is None:
        return
    for name in (URGENT, USUAL):
        if (latencies := reading.started(name)) is not None:
            row = {"urgency": name, "of_priority": latencies.count}
            yield (
                row
                | quantiles("latency", latencies, ["p50", "p99"])
                | {"latency_max_s": latencies.max_s}
            )


TABLE = Table(
    "priorities",
    "the messages of one priority in a run of AMQP 0-9-1",
    (
        text("urgency", "urgent, or usual."),
        count("of_priority", "Messages that were due, or sent, in the window.", "messages"),
        *("latency_p50_s", "latency_p99_s", "latency_max_s"),
    ),
    rows=rows,
)

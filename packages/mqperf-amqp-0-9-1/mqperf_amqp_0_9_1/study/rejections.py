"""The table ``rejections``, and its contradictions with the record of every message.

A rejected message is delivered again: to its consumer, or, above the delivery limit, to the
consumer of dead letters.  So rejections are the sum of redeliveries, dead letters, and messages
that are dropped or still wait; the latter are never received, and count as missing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

from mqperf.onhost.record.numbers import NONE, common, size
from mqperf.plan.columns import Table, count, latency
from mqperf.record import Whole
from mqperf.record.counts import CountsFile, read_counts
from mqperf.record.outputs.diary import Diary, read_diary
from mqperf.study.tables.within_run import quantiles
from mqperf_amqp_0_9_1.onhost.dead_letters import STREAM
from mqperf_amqp_0_9_1.onhost.rejections import REDELIVERED, REJECTED
from mqperf_amqp_0_9_1.plan.parameters import GENERATOR, of_case

if TYPE_CHECKING:
    from mqperf.study.tables.of_run import Reading

CHANCE = 6
"""Allowed deviation of a share, in standard deviations: exceeded once in 500 million."""


def rejects(run: Whole) -> bool:
    """Whether consumers of the run reject."""
    return run.case.generator == GENERATOR.name and of_case(run.case).reject_share is not None


@dataclass(frozen=True, slots=True)
class Rejected:
    """Counts of deliveries in a run whose consumers reject.

    ``missing`` are deliveries that were due and did not happen.
    """

    rejected: int
    redelivered: int
    accepted: int
    dead_lettered: int
    missing: int

    def wrong(self, share: float, limit: int | None) -> Iterator[str]:
        """Yield contradictions, given that only rejected messages are delivered again."""
        not_returned = self.rejected - self.redelivered - self.dead_lettered
        if not 0 <= not_returned <= max(self.missing, 0):
            yield (
                f"{self.rejected} rejected, but {self.redelivered} redelivered +"
                f" {self.dead_lettered} dead-lettered, and {self.missing} missing"
            )
        if limit is not None and self.dead_lettered * (limit + 1) > self.rejected:
            yield (
                f"{self.dead_lettered} dead letters take {limit + 1} rejections each,"
                f" and {self.rejected} were made"
            )
        total = self.rejected + self.accepted
        if abs(self.rejected - share * total) > CHANCE * sqrt(total * share * (1 - share)):
            yield f"{self.rejected} of {total} deliveries rejected, no share of {share:.4g}"


def _diaries(run: Whole) -> list[Diary]:
    processes = run.facts.processes
    return [read_diary(GENERATOR.name, run.folder, process.label) for process in processes]


def _counted(diaries: Sequence[Diary], name: str) -> int:
    return sum(diary.counts.get(name, 0) for diary in diaries)


def _rejected(diaries: Sequence[Diary], due: int, received: int, dead: int) -> Rejected:
    rejected, redelivered = (_counted(diaries, name) for name in (REJECTED, REDELIVERED))
    return Rejected(rejected, redelivered, received - dead, dead, due - received)


def disagreements(run: Whole) -> Iterator[str]:
    """Yield contradictions in records of consumers that reject; fewer in disturbed runs.

    Actions of the plan and lost connections cause redeliveries without rejections; a background
    load has no record of the actions.
    """
    if not rejects(run):
        return
    parameters, diaries = of_case(run.case), _diaries(run)
    records = [read_counts(run.folder / f"{diary.label}.counts") for diary in diaries]
    absent, both = (sum(each) for each in zip(*map(_dead, records), strict=True))
    if absent:
        yield f"{absent} dead letters are not among the messages that were received"
    if run.case.actions or run.place != "load" or _counted(diaries, "disconnected"):
        return
    if both:
        yield f"{both} dead letters were accepted, too"
    sent, received, dead = (_messages(records, name) for name in ("sent", "received", STREAM))
    rejected = _rejected(diaries, sent * parameters.copies, received, dead)
    yield from rejected.wrong(parameters.reject_share or 0.0, parameters.delivery_limit)


def _messages(records: Sequence[CountsFile], name: str) -> int:
    streams = (record.streams.get(name) for record in records)
    return sum(stream.count for stream in streams if stream is not None)


def _dead(record: CountsFile) -> tuple[int, int]:
    """Return counts of a process's dead letters that it did not receive, and that it accepted."""
    absent = both = 0
    received = record.numbers.get("received", {})
    for sender, dead in record.numbers.get(STREAM, {}).items():
        numbers = received.get(sender, NONE)
        not_received = size(dead.ranges) - common(numbers.ranges, dead.ranges)
        absent += not_received
        both += numbers.among(dead.ranges) - (dead.count - not_received)
    return absent, both


def rows(reading: "Reading") -> Iterator[dict[str, Any]]:
    """Yield a row for a run whose consumers reject, none for other runs."""
    run, streams = reading.run, reading.streams
    if not rejects(run):
        return
    dead, received = streams.together(STREAM).count, streams.received or 0
    due = streams.together("sent").count * of_case(run.case).copies
    counts = _rejected(_diaries(run), due, received, dead)
    row = {name: getattr(counts, name) for name in ("accepted", REJECTED, REDELIVERED, STREAM)}
    if (latencies := reading.started(STREAM)) is not None:
        row |= quantiles("dead_letter", latencies, ["p50", "p99"])
    yield {**row, "lost": reading.accounts["lost"]}


TABLE = Table(
    "rejections",
    "a run whose consumers reject deliveries of AMQP 0-9-1",
    (
        count("accepted", "Deliveries that consumers accepted, dead letters apart.", "accepted"),
        count(REJECTED, "Deliveries that they rejected, to be delivered again.", "rejected"),
        count(
            REDELIVERED,
            "Deliveries to them of messages that had been delivered before.",
            "redelivered",
        ),
        count(STREAM, "Deliveries to the consumers of dead letters.", "dead-lettered"),
        "lost",
        latency(
            "dead_letter_p50_s",
            "From when a message was due, or sent, to its receipt as a dead letter: the median.",
            "dead letters p50",
        ),
        latency("dead_letter_p99_s", "The same: the 99th percentile.", "dead letters p99"),
    ),
    rows=rows,
)

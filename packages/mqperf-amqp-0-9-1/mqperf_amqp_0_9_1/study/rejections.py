"""The table ``rejections``, and what of it the record of every message contradicts.

A delivery that is rejected comes back: to its consumer, or, when it was one too many, to the
consumer of dead letters.  So rejections are redeliveries and dead letters together, but for what is
dropped, or still waits; that is never received, and missing.
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
"""Standard deviations by which a share may differ from what it was to be: once in 500 million."""


def rejects(run: Whole) -> bool:
    """Whether consumers of the run reject."""
    return run.case.generator == GENERATOR.name and of_case(run.case).reject_share is not None


@dataclass(frozen=True, slots=True)
class Rejected:
    """What consumers of a run did, and what became of it; each delivery counts for itself.

    ``missing`` are deliveries that were due and did not happen.
    """

    rejected: int
    redelivered: int
    accepted: int
    dead_lettered: int
    missing: int

    def wrong(self, share: float, limit: int | None) -> Iterator[str]:
        """What cannot be where no message came again but those that were rejected."""
        left = self.rejected - self.redelivered - self.dead_lettered
        if not 0 <= left <= max(self.missing, 0):
            yield (
                f"{self.rejected} rejected, but {self.redelivered} redelivered +"
                f" {self.dead_lettered} dead-lettered, and {self.missing} missing"
            )
        if limit is not None and self.dead_lettered * (limit + 1) > self.rejected:
            yield (
                f"{self.dead_lettered} dead letters take {limit + 1} rejections each,"
                f" and {self.rejected} were made"
            )
        taken = self.rejected + self.accepted
        if abs(self.rejected - share * taken) > CHANCE * sqrt(taken * share * (1 - share)):
            yield f"{self.rejected} of {taken} deliveries rejected, no share of {share:.4g}"


def _diaries(run: Whole) -> list[Diary]:
    processes = run.facts.processes
    return [read_diary(GENERATOR.name, run.folder, process.label) for process in processes]


def _counted(diaries: Sequence[Diary], name: str) -> int:
    return sum(diary.counts.get(name, 0) for diary in diaries)


def _rejected(diaries: Sequence[Diary], due: int, came: int, dead: int) -> Rejected:
    rejected, redelivered = (_counted(diaries, name) for name in (REJECTED, REDELIVERED))
    return Rejected(rejected, redelivered, came - dead, dead, due - came)


def disagreements(run: Whole) -> Iterator[str]:
    """What records of consumers that reject contradict; some of it only where nothing is disturbed.

    An action of the plan, or a lost connection, has messages come again that nobody rejected; a
    background load does not know of the actions.
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
    sent, came, dead = (_messages(records, name) for name in ("sent", "received", STREAM))
    told = _rejected(diaries, sent * parameters.copies, came, dead)
    yield from told.wrong(parameters.reject_share or 0.0, parameters.delivery_limit)


def _messages(records: Sequence[CountsFile], name: str) -> int:
    streams = (record.streams.get(name) for record in records)
    return sum(stream.count for stream in streams if stream is not None)


def _dead(record: CountsFile) -> tuple[int, int]:
    """Dead letters of a process that it did not receive, and others that it accepted, too."""
    absent = both = 0
    received = record.numbers.get("received", {})
    for sender, dead in record.numbers.get(STREAM, {}).items():
        every = received.get(sender, NONE)
        lacking = size(dead.ranges) - common(every.ranges, dead.ranges)
        absent += lacking
        both += every.among(dead.ranges) - (dead.count - lacking)
    return absent, both


def rows(reading: "Reading") -> Iterator[dict[str, Any]]:
    """One of a run whose consumers reject; none of others."""
    run, streams = reading.run, reading.streams
    if not rejects(run):
        return
    dead, came = streams.together(STREAM).count, streams.received or 0
    due = streams.together("sent").count * of_case(run.case).copies
    told = _rejected(_diaries(run), due, came, dead)
    row = {name: getattr(told, name) for name in ("accepted", REJECTED, REDELIVERED, STREAM)}
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

"""The table ``partitions``: the messages of each partition of the super streams of a run."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mqperf.onhost.record.numbers import size
from mqperf.plan.columns import Table, count, share
from mqperf_streams.plan.parameters import GENERATOR, of_case

if TYPE_CHECKING:
    from mqperf.study.tables.of_run import Reading


def rows(reading: "Reading") -> Iterator[dict[str, Any]]:
    """Yield a row for each partition, of all threads together; none without super streams."""
    case = reading.run.case
    if case.generator != GENERATOR.name or (partitions := of_case(case).partitions) == 1:
        return
    sent, received = (_counts(reading, name, partitions) for name in ("sent", "received"))
    for partition in range(partitions):
        yield {
            "partition": partition,
            "sent": sent[partition],
            "received": received[partition],
            "partition_share": sent[partition] / sum(sent) if any(sent) else None,
        }


def _counts(reading: "Reading", stream: str, partitions: int) -> list[int]:
    """Return the distinct messages of each partition; senders have names as ``client-1.2-0``."""
    counts = [0] * partitions
    for sender, numbers in reading.streams.sequence_numbers(stream):
        partition = sender.rpartition("-")[2]
        if partition.isdecimal() and int(partition) < partitions:
            counts[int(partition)] += size(numbers.ranges)
    return counts


TABLE = Table(
    "partitions",
    "a partition of the super streams of a run",
    (
        count("partition", "Which partition, from 0; that of all threads.", "partition", unit=""),
        *("sent", "received"),
        share("partition_share", "Messages sent to it, of all that were.", "share of messages"),
    ),
    rows=rows,
)

"""Account for every message: lost, duplicated, foreign; and check the runner's own counts.

A record of instants identifies a message by its start, which the sending client and the receiving
server record alike.  Two clients may start a message at the same instant, so starts are compared as
multisets; where every server must get every message, each server is compared on its own.  A record
of counts identifies a message by its sender and sequence number.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from mqperf.onhost.record.numbers import Ranges, common, size, union
from mqperf.plan.test_cases import TEST_CASES
from mqperf.record import Event, Whole
from mqperf.record.streams.counted import Counted
from mqperf.record.streams.stream import Instants
from mqperf.record.totals import COUNTS
from mqperf.study.load import generator_of
from mqperf.study.tables.streams import Streams


def accounted(run: Whole, streams: Streams) -> dict[str, Any]:
    """Columns of ``messages``: lost, duplicate and foreign messages, and causality violations.

    Where servers answer, a message is lost if it got neither a reply nor an error; elsewhere, if no
    server received it.
    """
    if streams.record == COUNTS:
        return _by_sequence_number(run, streams)
    received = streams.instants("received")
    replies, errors = streams.instants("round_trip"), streams.instants("error")
    sent = np.sort(streams.instants("sent")[:, 0])
    copies = generator_of(run).copies(run.case)
    received_starts = _starts_by_server(streams) if copies > 1 else [np.sort(received[:, 0])]
    ended = received_starts
    foreign = sum(_surplus(starts, sent, known=False) for starts in received_starts)
    if TEST_CASES[run.case.test_case].replies:
        ended = [np.sort(np.concatenate([replies[:, 0], errors[:, 0]]))]
        foreign += _surplus(ended[0], sent, known=False)
    return {
        "deliveries": copies * len(sent) if copies > 1 else None,
        "lost": sum(_surplus(sent, starts) for starts in ended),
        "duplicates": sum(_surplus(starts, sent, known=True) for starts in received_starts),
        "foreign": foreign,
        "causality_violations": _violations(received, replies, errors, streams.uncertainty_s),
    }


def _starts_by_server(streams: Streams) -> list[np.ndarray]:
    """The sorted starts of the messages that each server received."""
    received = (of_process.get("received") for of_process in streams.processes.values())
    return [np.sort(stream.values[:, 0]) for stream in received if isinstance(stream, Instants)]


def _by_sequence_number(run: Whole, streams: Streams) -> dict[str, Any]:
    """The same columns from sequence numbers; a reply before its request's arrival goes undetected.

    Of a message that is to be delivered several times, each delivery is counted separately.
    """
    copies = generator_of(run).copies(run.case)
    sent = {
        f"{sender}@{copy}" if copies > 1 else sender: numbers.ranges
        for sender, numbers in streams.sequence_numbers("sent")
        for copy in range(1, copies + 1)
    }
    received = _distinct(streams, "received")
    answers = ("round_trip", "error") if TEST_CASES[run.case.test_case].replies else ()
    ended = _distinct(streams, *answers) if answers else received
    known_deliveries = _count_known(streams, "received", sent)
    foreign = [
        streams.together(name).count - _count_known(streams, name, sent)
        for name in ("received", *answers)
    ]
    return {
        "deliveries": sum(map(size, sent.values())) if copies > 1 else None,
        "lost": sum(map(size, sent.values())) - _count_common(ended, sent),
        "duplicates": known_deliveries - _count_common(received, sent),
        "foreign": sum(foreign),
        "reordered": sum(numbers.reordered for _, numbers in streams.sequence_numbers("received")),
        "causality_violations": _count_negative_latencies(streams),
    }


def _distinct(streams: Streams, *names: str) -> Mapping[str, Ranges]:
    """The distinct sequence numbers that any process recorded in these streams, by sender."""
    by_sender: dict[str, list[Ranges]] = {}
    for name in names:
        for sender, numbers in streams.sequence_numbers(name):
            by_sender.setdefault(sender, []).append(numbers.ranges)
    return {sender: union(ranges) for sender, ranges in by_sender.items()}


def _count_common(recorded: Mapping[str, Ranges], sent: Mapping[str, Ranges]) -> int:
    """Count the sent sequence numbers that are also among the recorded ones, by sender."""
    return sum(common(recorded[name], ranges) for name, ranges in sent.items() if name in recorded)


def _count_known(streams: Streams, name: str, sent: Mapping[str, Ranges]) -> int:
    """Count the messages of a stream, duplicates included, that a client had sent."""
    recorded = streams.sequence_numbers(name)
    return sum(numbers.among(sent[sender]) for sender, numbers in recorded if sender in sent)


def _count_negative_latencies(streams: Streams) -> int:
    """Count negative latencies in streams whose lowest one exceeds the clock uncertainty."""
    negative = 0
    for name in ("received", "round_trip", "error"):
        stream = streams.together(name)
        summary = stream.summary()
        uncertainty_s = streams.uncertainty_s if name == "received" else 0.0
        if isinstance(stream, Counted) and summary and summary.min_s < -uncertainty_s:
            negative += stream.negative
    return negative


def _surplus(starts: np.ndarray, others: np.ndarray, *, known: bool | None = None) -> int:
    """Size of the multiset difference ``starts`` minus ``others``, both sorted.

    ``known=True`` counts only values that occur in ``others``, ``known=False`` only the rest.
    """
    if np.array_equal(starts, others):
        return 0
    values, counts = np.unique(starts, return_counts=True)
    in_others = np.searchsorted(others, values, "right") - np.searchsorted(others, values, "left")
    surplus = np.maximum(counts - in_others, 0)
    if known is not None:
        surplus = surplus[(in_others > 0) == known]
    return int(surplus.sum())


def _violations(
    received: np.ndarray, replies: np.ndarray, errors: np.ndarray, uncertainty_s: float
) -> int:
    """Count messages finished before their start, and replies before the request was received.

    Between the hosts of a sender and a receiver, ``uncertainty_s`` of clock error is tolerated.
    """
    backwards = int((received[:, 1] < received[:, 0] - uncertainty_s).sum())
    backwards += sum(int((instants[:, 1] < instants[:, 0]).sum()) for instants in (replies, errors))
    if not len(replies) or not len(received):
        return backwards
    order = np.lexsort((received[:, 1], received[:, 0]))
    started, arrived = received[order, 0], received[order, 1]
    first = np.searchsorted(started, replies[:, 0])
    inside = np.minimum(first, len(started) - 1)
    paired = started[inside] == replies[:, 0]
    early = paired & (replies[:, 1] < arrived[inside] - uncertainty_s)
    return backwards + int(early.sum())


def drained(streams: Streams, events: list[Event]) -> Iterator[str]:
    """Yield differences between the runner's counts at the end of draining and the record."""
    for event in events:
        if event.what != "drained":
            continue
        sent, received = (event.detail.get(name) for name in ("sent", "received"))
        if sent != (recorded := streams.together("sent").count):
            yield f"drained: {sent} sent when the load had ended, {recorded} recorded"
        handled = streams.together("received").count
        if not isinstance(received, int) or not 0 <= received <= handled:
            yield f"drained: {received} received when the load had ended, {handled} recorded"

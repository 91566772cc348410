"""Every message accounted for, and the runner's own counts beside them.

Of a record of instants a message is known by its start, which the client that sent it and the
server that received it record alike.  Two clients may start one in the same instant, so starts are
counted, not collected; where every server is to get every message, those of each server by
themselves.  Of a record of counts it is known by its sender and sequence number.
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
    """Columns of ``messages``: what was lost, duplicated, foreign, or received before it was sent.

    Where servers answer, a message is lost that got neither reply nor error; elsewhere one that no
    server received.
    """
    if streams.record == COUNTS:
        return _by_number(run, streams)
    received = streams.instants("received")
    replies, errors = streams.instants("round_trip"), streams.instants("error")
    sent = np.sort(streams.instants("sent")[:, 0])
    copies = generator_of(run).copies(run.case)
    at_servers = _of_each_server(streams) if copies > 1 else [np.sort(received[:, 0])]
    ended = at_servers
    foreign = sum(_surplus(starts, sent, known=False) for starts in at_servers)
    if TEST_CASES[run.case.test_case].replies:
        ended = [np.sort(np.concatenate([replies[:, 0], errors[:, 0]]))]
        foreign += _surplus(ended[0], sent, known=False)
    return {
        "deliveries": copies * len(sent) if copies > 1 else None,
        "lost": sum(_surplus(sent, starts) for starts in ended),
        "duplicates": sum(_surplus(starts, sent, known=True) for starts in at_servers),
        "foreign": foreign,
        "causality_violations": _violations(received, replies, errors, streams.uncertainty_s),
    }


def _of_each_server(streams: Streams) -> list[np.ndarray]:
    """The starts of what each server received, where every one is to get every message."""
    received = (named.get("received") for named in streams.processes.values())
    return [np.sort(stream.values[:, 0]) for stream in received if isinstance(stream, Instants)]


def _by_number(run: Whole, streams: Streams) -> dict[str, Any]:
    """The same by sequence numbers; which reply came before its request was received is unknown.

    Of a message that is to be delivered several times, each delivery counts for itself.
    """
    copies = generator_of(run).copies(run.case)
    sent = {
        f"{sender}@{copy}" if copies > 1 else sender: numbers.ranges
        for sender, numbers in streams.seen("sent")
        for copy in range(1, copies + 1)
    }
    at_servers = _distinct(streams, "received")
    answers = ("round_trip", "error") if TEST_CASES[run.case.test_case].replies else ()
    ended = _distinct(streams, *answers) if answers else at_servers
    known = _known(streams, "received", sent)
    foreign = [
        streams.together(name).count - _known(streams, name, sent)
        for name in ("received", *answers)
    ]
    return {
        "deliveries": sum(map(size, sent.values())) if copies > 1 else None,
        "lost": sum(map(size, sent.values())) - _shared(ended, sent),
        "duplicates": known - _shared(at_servers, sent),
        "foreign": sum(foreign),
        "reordered": sum(numbers.reordered for _, numbers in streams.seen("received")),
        "causality_violations": _negative(streams),
    }


def _distinct(streams: Streams, *names: str) -> Mapping[str, Ranges]:
    """By sender, the numbers that any process saw in these streams."""
    by_sender: dict[str, list[Ranges]] = {}
    for name in names:
        for sender, numbers in streams.seen(name):
            by_sender.setdefault(sender, []).append(numbers.ranges)
    return {sender: union(parts) for sender, parts in by_sender.items()}


def _shared(seen: Mapping[str, Ranges], sent: Mapping[str, Ranges]) -> int:
    """How many of the numbers that were sent are among those seen."""
    return sum(common(seen[sender], ranges) for sender, ranges in sent.items() if sender in seen)


def _known(streams: Streams, name: str, sent: Mapping[str, Ranges]) -> int:
    """Messages of a stream, each as often as it was seen, that somebody had sent."""
    seen = streams.seen(name)
    return sum(numbers.among(sent[sender]) for sender, numbers in seen if sender in sent)


def _negative(streams: Streams) -> int:
    """Messages with a negative latency, if the least is beyond what clocks may be wrong by."""
    negative = 0
    for name in ("received", "round_trip", "error"):
        stream = streams.together(name)
        summary = stream.summary()
        uncertainty_s = streams.uncertainty_s if name == "received" else 0.0
        if isinstance(stream, Counted) and summary and summary.min_s < -uncertainty_s:
            negative += stream.negative
    return negative


def _surplus(starts: np.ndarray, others: np.ndarray, *, known: bool | None = None) -> int:
    """How many of ``starts`` are there more often than in ``others``; both are sorted.

    With ``known`` only values count that ``others`` has, or (False) has not.
    """
    if np.array_equal(starts, others):
        return 0
    values, counts = np.unique(starts, return_counts=True)
    there = np.searchsorted(others, values, "right") - np.searchsorted(others, values, "left")
    more = np.maximum(counts - there, 0)
    if known is not None:
        more = more[(there > 0) == known]
    return int(more.sum())


def _violations(
    received: np.ndarray, replies: np.ndarray, errors: np.ndarray, uncertainty_s: float
) -> int:
    """Messages finished before they were started, and replies from before the request came in.

    Two hosts take part in a message that was received, and their clocks may be wrong by so much.
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
    """What clients and servers had told the runner when it found that no message was left."""
    for event in events:
        if event.what != "drained":
            continue
        sent, received = (event.detail.get(name) for name in ("sent", "received"))
        if sent != (recorded := streams.together("sent").count):
            yield f"drained: {sent} sent when the load had ended, {recorded} recorded"
        handled = streams.together("received").count
        if not isinstance(received, int) or not 0 <= received <= handled:
            yield f"drained: {received} received when the load had ended, {handled} recorded"

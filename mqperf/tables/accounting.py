"""Every message accounted for by its instants, and the runner's own counts beside them.

A message is known by its start, which the client that sent it and the server that received it
record alike.  Two clients may start one in the same instant, so starts are counted, not collected.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from mqperf.record import Event, Whole
from mqperf.tables.streams import Streams, together
from mqperf.test_cases import TEST_CASES


def accounted(run: Whole, streams: Streams) -> dict[str, Any]:
    """Columns of ``messages``: what was lost, duplicated, foreign, or received before it was sent.

    Where servers answer, a message is lost that got neither reply nor error; elsewhere one that no
    server received.
    """
    received = together(streams, "received")
    replies, errors = together(streams, "round_trip"), together(streams, "error")
    sent = np.sort(together(streams, "sent")[:, 0])
    at_servers = np.sort(received[:, 0])
    ended = at_servers
    foreign = _surplus(at_servers, sent, known=False)
    if TEST_CASES[run.case.test_case].replies:
        ended = np.sort(np.concatenate([replies[:, 0], errors[:, 0]]))
        foreign += _surplus(ended, sent, known=False)
    return {
        "lost": _surplus(sent, ended),
        "duplicates": _surplus(at_servers, sent, known=True),
        "foreign": foreign,
        "causality_violations": _violations(run, received, replies, errors),
    }


def _surplus(some: np.ndarray, others: np.ndarray, *, known: bool | None = None) -> int:
    """How many of ``some`` are there more often than in ``others``; both are sorted.

    With ``known`` only values count that ``others`` has, or (False) has not.
    """
    if np.array_equal(some, others):
        return 0
    values, counts = np.unique(some, return_counts=True)
    there = np.searchsorted(others, values, "right") - np.searchsorted(others, values, "left")
    more = np.maximum(counts - there, 0)
    if known is not None:
        more = more[(there > 0) == known]
    return int(more.sum())


def _violations(run: Whole, received: np.ndarray, replies: np.ndarray, errors: np.ndarray) -> int:
    """Messages finished before they were started, and replies from before the request came in.

    Clocks may differ by the recorded offset.
    """
    offset = run.clock_offset_s
    backwards = sum(
        int((some[:, 1] < some[:, 0] - offset).sum()) for some in (received, replies, errors)
    )
    if not len(replies) or not len(received):
        return backwards
    order = np.lexsort((received[:, 1], received[:, 0]))
    started, arrived = received[order, 0], received[order, 1]
    first = np.searchsorted(started, replies[:, 0])
    inside = np.minimum(first, len(started) - 1)
    paired = started[inside] == replies[:, 0]
    early = paired & (replies[:, 1] < arrived[inside] - offset)
    return backwards + int(early.sum())


def drained(streams: Streams, events: list[Event]) -> Iterator[str]:
    """What clients and servers had told the runner when it found that no message was left."""
    for event in events:
        if event.what != "drained":
            continue
        sent, received = (event.detail.get(name) for name in ("sent", "received"))
        if sent != (recorded := len(together(streams, "sent"))):
            yield f"drained: {sent} sent when the load had ended, {recorded} recorded"
        handled = len(together(streams, "received"))
        if not isinstance(received, int) or not 0 <= received <= handled:
            yield f"drained: {received} received when the load had ended, {handled} recorded"

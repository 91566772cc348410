"""Every message accounted for by its instants, and the simulator's own counts beside them.

A message is known by its start, which the client that sent it and the server that received it
record alike.  Two clients may start one in the same instant, so starts are counted, not collected.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from mqperf.load import simulator_log
from mqperf.load.simulator_json import Output, Point, Summary, summaries, summed
from mqperf.record import Event, Whole
from mqperf.tables.streams import Streams, together

STREAMS = {"client": "sent", "error": "error", "round_trip": "round_trip", "server": "received"}
"""Stream of the simulator's own output -> stream of the exact record."""

SUMMARY = ("duration", "latency", "min_latency", "max_latency")
MOST_SUMS = 5_000
"""As many ways to choose messages are tried, to find those that the simulator did not count."""

PRECISION = 1e-9
"""Two ways to add up the same numbers differ by less."""


def accounted(run: Whole, streams: Streams) -> dict[str, Any]:
    """Columns of ``messages``: what was lost, duplicated, foreign, or received before it was sent.

    Of CALL a message is lost that got neither reply nor error; of CAST and NOTIFY one that no
    server received.
    """
    received = together(streams, "received")
    replies, errors = together(streams, "round_trip"), together(streams, "error")
    sent = np.sort(together(streams, "sent")[:, 0])
    at_servers = np.sort(received[:, 0])
    ended = at_servers
    foreign = _surplus(at_servers, sent, known=False)
    if run.case.test_case == "rpc-call":
        ended = np.sort(np.concatenate([replies[:, 0], errors[:, 0]]))
        foreign += _surplus(ended, sent, known=False)
    return {
        "lost": _surplus(sent, ended),
        "duplicates": _surplus(at_servers, sent, known=True),
        "foreign": foreign,
        "causality_violations": _violations(run, received, replies, errors),
    }


def disagreements(
    run: Whole, streams: Streams, outputs: Mapping[str, Output], events: list[Event]
) -> list[str]:
    """Where the exact record, the simulator's own output and the runner's event differ."""
    found = [
        f"{label}: {problem}"
        for label, output in outputs.items()
        for name, summary in summaries(output).items()
        for problem in _stream(
            run, name, summary, output.points(name), streams[label][STREAMS[name]]
        )
    ]
    return [*found, *_logged(run, outputs), *_drained(streams, events)]


def _logged(run: Whole, outputs: Mapping[str, Output]) -> Iterator[str]:
    """What the simulator said at the end of its log, against what it wrote as JSON."""
    for label, output in outputs.items():
        said = simulator_log.counts(run.run.path / "load" / f"{label}.log")
        for name, summary in summaries(output).items():
            if name in said and said[name] != summary.count:
                yield (
                    f"{label}: {name}: {summary.count} in the simulator's summary, {said[name]} in"
                    " its log"
                )


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


def _stream(
    run: Whole, name: str, summary: Summary, points: list[Point], exact: np.ndarray
) -> Iterator[str]:
    """What the simulator says of one stream of a process, against its points and the record.

    A client's thread may end before it has counted its last message.
    """
    own = summed(points)
    missed = 0 if name == "server" else run.case.green_threads
    if own.count != summary.count:
        yield f"{name}: {summary.count} in the simulator's summary, {own.count} in its series"
    for figure in SUMMARY:
        said, is_ = getattr(summary, figure), getattr(own, figure)
        if not _same(said, is_):
            yield f"{name}: {figure} {said} in the simulator's summary, {is_} in its series"
    if not len(exact) - missed <= own.count <= len(exact):
        yield f"{name}: {len(exact)} messages recorded, {own.count} counted by the simulator"
    elif own.latency is not None and exact.shape[1] > 1 and name != "error":
        yield from _latencies(name, run.case.green_threads, own, exact)


def _latencies(name: str, threads: int, own: Summary, exact: np.ndarray) -> Iterator[str]:
    """Where the simulator's latencies are not those of the record.

    A message that a thread ended before it had counted is among the last that were finished.
    """
    ordered = exact[np.argsort(exact[:, 1], kind="stable")]
    latency = ordered[:, 1] - ordered[:, 0]
    missed = len(latency) - own.count
    last = missed + threads if missed else 0
    counted, late = latency[: len(latency) - last], latency[len(latency) - last :]
    total, told = float(latency.sum()), (own.latency or 0.0) * own.count
    slack = PRECISION * float(np.abs(latency).sum())
    if not _left_over(total - told, missed, late, slack):
        mean = total / len(latency)
        yield f"{name}: latency {own.latency} by the simulator, {mean} recorded, {missed} uncounted"
    for figure, of in (("min_latency", np.min), ("max_latency", np.max)):
        ends = sorted(float(of(some)) for some in (counted, latency) if len(some))
        is_, slack = getattr(own, figure) or 0.0, PRECISION * max(map(abs, ends))
        if not ends[0] - slack <= is_ <= ends[-1] + slack:
            yield f"{name}: {figure} {is_} by the simulator, {ends[-1]} recorded"


def _left_over(left: float, missed: int, late: np.ndarray, slack: float) -> bool:
    """Whether so many of the late messages took this time together; or may have, of very many."""
    if comb(len(late), missed) <= MOST_SUMS:
        return any(abs(sum(some) - left) <= slack for some in combinations(late.tolist(), missed))
    ordered = np.sort(late)
    return bool(ordered[:missed].sum() - slack <= left <= ordered[-missed:].sum() + slack)


def _same(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return a is b
    return abs(a - b) <= PRECISION * max(abs(a), abs(b))


def _drained(streams: Streams, events: list[Event]) -> Iterator[str]:
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

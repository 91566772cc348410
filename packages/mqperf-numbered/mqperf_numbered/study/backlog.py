"""The table ``backlog``: a load whose consumers start late, before, during and after the drain.

The backlog is counted at the end of every second: deliveries of the messages sent by then, minus
those received.  It is drained when no more wait than are always in transit: what is sent in
``UNDER_WAY_S``, the delay of a link of the plan and the transit between hosts, plus ``OF_THREAD``
of each thread.  The instant is interpolated by the faster drain of its second and the one before.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mqperf.plan.columns import Table, count, seconds, text
from mqperf.plan.pace import LATE
from mqperf.record import Whole
from mqperf.record.outputs.diary import Happened
from mqperf.record.streams.stream import ByProcess
from mqperf.study.tables.rate_steps import deliveries
from mqperf.study.tables.within_run import quantiles

if TYPE_CHECKING:
    from mqperf.study.tables.of_run import Reading

BUILDING, DRAINING, STEADY = "building", "draining", "steady"

UNDER_WAY_S, OF_THREAD = 0.1, 4
"""Messages sent in a tenth of a second, and four of each thread, do not count as backlog."""

ACROSS = 4
"""Transits of a message between a host and the controller if all hosts are linked by it: client to
broker, and broker to server.  The bound of a clock's error is at least half a round trip, so it is
an upper limit of one transit."""

LATE_S = 1.0
"""Allowed delay of the start of consumers."""

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Backlog:
    """Waiting deliveries at the beginning of each second of a load, and at its end.

    ``level`` is how many of them are always in transit.
    """

    count: NDArray[np.float64]
    level: NDArray[np.float64]

    def drained_s(self, after: int) -> float | None:
        """Return seconds from the start of consumers at ``after`` to the drain; None if never."""
        low = np.flatnonzero(self.count[after:] <= self.level[after:])
        if not len(low):
            return None
        if (end := after + int(low[0])) == after:
            return 0.0
        if (excess := float(self.count[end - 1] - self.level[end])) <= 0:
            return float(end - 1 - after)  # the level rose, as more was sent
        last = slice(max(after, end - 2), end + 1)
        return end - 1 - after + excess / float((-np.diff(self.count[last])).max())


def rows(reading: "Reading") -> Iterator[Row]:
    """Yield a row for each phase of a run whose consumers start late; none for other runs."""
    if (late := reading.run.case.parameters.get(LATE)) is None:
        return
    after = int(late)
    backlog, length = _backlog(reading), round(reading.run.load[1] - reading.run.load[0])
    drained_s = backlog.drained_s(after)
    drained = float(length) if drained_s is None else after + drained_s
    bounds = (0.0, float(after), drained, float(length))
    for phase, (begin, end) in zip((BUILDING, DRAINING, STEADY), pairwise(bounds), strict=True):
        first = ceil(begin) if phase == STEADY else begin
        if first < end:
            yield {
                "backlog_phase": phase,
                **_figures(reading, first, end),
                "waiting": max(0, round(backlog.count[int(first)])),
                "drained_s": drained_s if phase == DRAINING else None,
            }


def _backlog(reading: "Reading") -> Backlog:
    load = reading.run.load
    sent = reading.streams.together("sent").per_second(load) * deliveries(reading)
    received = reading.done.per_second(load)
    case = reading.run.case
    clocks = reading.run.facts.clocks.values()
    hosts_s = ACROSS * max((clock.before.bound_s for clock in clocks), default=0.0)
    transit_s = UNDER_WAY_S + hosts_s + (case.link.delay_s if case.link else 0.0)
    level = sent * transit_s + OF_THREAD * case.threads * deliveries(reading)
    return Backlog(np.append(0.0, np.cumsum(sent - received)), np.append(0.0, level))


def _figures(reading: "Reading", begin: float, end: float) -> Row:
    """Return times, rates and latencies of a phase, given in seconds of the load."""
    start, warmup_s = reading.run.load[0], reading.run.case.warmup_s
    whole = (ceil(begin), floor(end)) if ceil(begin) < floor(end) else (floor(begin), ceil(end))
    span = start + whole[0], start + whole[1]
    row: Row = {"from_s": begin - warmup_s, "until_s": end - warmup_s}
    for name, stream in (
        ("send_rate_msg_s", reading.streams.together("sent")),
        ("throughput_msg_s", reading.done),
    ):
        row[name] = stream.per_second(span).sum() / (whole[1] - whole[0])
    if (latencies := reading.done.started_in(span)).count:
        row |= quantiles("latency", latencies, ["p50", "p99"]) | {"latency_max_s": latencies.max_s}
    if reading.streams.has("confirmed"):
        confirms = reading.streams.together("confirmed").started_in(span)
        row |= quantiles("confirm", confirms, ["p50", "p99"]) if confirms.count else {}
    return row


def disagreements(run: Whole, streams: ByProcess, notes: Sequence[Happened]) -> Iterator[str]:
    """Yield servers that did not start to consume at the instant of the plan.

    ``streams`` and ``notes`` are by the clock of the host of each process.
    """
    if (late := run.case.parameters.get(LATE)) is None:
        return
    after = int(late)
    for process in run.facts.processes:
        if process.kind != "server":
            continue
        begin = run.began(process.label)
        early = int(streams[process.label]["received"].per_second((begin, begin + after)).sum())
        if early:
            yield f"{process.label}: {early} received before consumers were to start"
        began = [note.time for note in notes if (note.label, note.what) == (process.label, BEGAN)]
        if len(began) != 1 or not 0 <= began[0] - begin - after < LATE_S:
            at = ", ".join(f"{time - begin:.1f} s" for time in began) or "never"
            yield f"{process.label}: started to consume {at}, and was to after {after} s"


BEGAN = "consuming"
"""The event that servers record when they start to consume late."""

TABLE = Table(
    "backlog",
    "a phase of a run whose consumers start late",
    (
        text(
            "backlog_phase",
            "building, until consumers start; draining, until no more waits than is always under"
            " way; steady, from the next whole second to the end of the load.",
            "phase",
        ),
        seconds("from_s", "When the phase begins.", "from"),
        seconds("until_s", "When it ends; that of draining is interpolated.", "until"),
        count("waiting", "Deliveries that wait at its beginning.", "backlog"),
        "send_rate_msg_s",
        "throughput_msg_s",
        *("latency_p50_s", "latency_p99_s", "latency_max_s"),
        *("confirm_p50_s", "confirm_p99_s"),
        seconds(
            "drained_s",
            "From the start of the consumers until the backlog was drained; empty if the load ended"
            " before that.",
            "time to drain",
        ),
    ),
    rows=rows,
)

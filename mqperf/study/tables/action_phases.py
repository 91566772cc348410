"""The table ``action_phases``: messages and latencies before, during and after each action.

A message belongs to the second in which it was due, or sent if the load has no due times, so that
losses are counted in the phase that caused them.  Phases are whole seconds, the resolution of a
record of counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

from mqperf.plan.columns import REFUSALS
from mqperf.plan.test_cases import TEST_CASES
from mqperf.record import Whole
from mqperf.record.streams.stream import Latencies, Window, seconds
from mqperf.record.totals import COUNTS
from mqperf.study.load import generator_of
from mqperf.study.tables.outages import STEADY_S
from mqperf.study.tables.streams import Streams
from mqperf.study.tables.within_run import quantiles

BEFORE, DURING, AFTER = "before", "during", "after"

MARGIN_S = 1
"""Messages in flight when an action begins were sent at most this long before."""

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Phase:
    """A phase, in whole seconds since the start of the window."""

    name: str
    begin: int
    end: int


def action_phases(run: Whole, streams: Streams, accounts: Row, rows: Sequence[Row]) -> list[Row]:
    """Up to three rows for each of these rows of ``outages``, in their order.

    ``accounts`` are the columns of ``messages`` with lost and foreign messages.  A phase without a
    whole second has no row.
    """
    if not rows:
        return []
    counter = _Counter(run, streams, accounts)
    return [
        {name: row[name] for name in ("action", "node", "commanded_s")}
        | {"phase": phase.name, "from_s": float(phase.begin), "until_s": float(phase.end)}
        | counter.row((run.window[0] + phase.begin, run.window[0] + phase.end))
        for row, phases in zip(rows, _phases(rows, seconds(run.window), counter), strict=True)
        for phase in phases
        if phase.begin < phase.end
    ]


def _phases(rows: Sequence[Row], length: int, counter: "_Counter") -> list[tuple[_Phase, ...]]:
    """The phases of each action; the beginning of the next action ends them."""
    order = sorted(range(len(rows)), key=lambda number: rows[number]["began_s"])
    begins = [max(0, floor(rows[number]["began_s"]) - MARGIN_S) for number in order]
    phases: dict[int, tuple[_Phase, ...]] = {}
    previous_end = 0
    for number, begin, next_begin in zip(order, begins, [*begins[1:], length], strict=True):
        end = min(next_begin, max(begin, _recovery_end(rows[number], length)))
        if not counter.lost_in(previous_end, begin):
            end = _last_loss(end, next_begin, counter)
        phases[number] = (
            _Phase(BEFORE, previous_end, begin),
            _Phase(DURING, begin, end),
            _Phase(AFTER, end, next_begin),
        )
        previous_end = end
    return [phases[number] for number in range(len(rows))]


def _recovery_end(row: Row, length: int) -> int:
    """The end of the first second with recovered throughput; of the window if it never recovered.

    What remained unfinished of that second still counts as an effect of the action.
    """
    if row["recovery_s"] is None:
        return length
    return min(length, ceil(round(float(row["ended_s"] + row["recovery_s"]), 6)) + 1)


def _last_loss(end: int, next_begin: int, counter: "_Counter") -> int:
    """The end of the last second with losses, these being less than ``STEADY_S`` apart.

    Routers that rediscover a neighbour may lose messages again after throughput has recovered.
    """
    while losses := [
        second
        for second in range(end, min(end + STEADY_S, next_begin))
        if counter.lost_in(second, second + 1)
    ]:
        end = losses[-1] + 1
    return end


@dataclass(frozen=True, slots=True)
class _Counter:
    """Counts the messages that were started in given seconds of a run."""

    run: Whole
    streams: Streams
    accounts: Row

    def lost_in(self, begin: int, end: int) -> int:
        """Lost messages of these seconds of the window; 0 where unknown."""
        return self._lost((self.run.window[0] + begin, self.run.window[0] + end)) or 0

    def row(self, phase: Window) -> dict[str, Any]:
        """The columns of a phase from ``sent`` on."""
        done = self._finished(phase)
        columns: dict[str, Any] = {
            "sent": self._sent(phase),
            "finished": done.count,
            "lost": self._lost(phase),
            "errors": self._started("error", phase),
        }
        for name in REFUSALS:
            columns[name] = self._started(name, phase) if self.streams.has(name) else None
        if done.count:
            columns |= quantiles("latency", done, ["p50", "p99"]) | {"latency_max_s": done.max_s}
        return columns

    def _finished(self, phase: Window) -> Latencies:
        return self.streams.finished(self.run.case.test_case).started_in(phase)

    def _sent(self, phase: Window) -> int:
        return self._started("handover" if self.streams.has("handover") else "sent", phase)

    def _started(self, name: str, phase: Window) -> int:
        """Number of messages of a stream that were started in the phase."""
        stream = self.streams.together(name)
        if stream.timed:
            return stream.started_in(phase).count
        return int(stream.per_second(phase).sum())

    def _lost(self, phase: Window) -> int | None:
        """Lost messages of the phase; None where counts cannot be attributed to its messages."""
        replies = TEST_CASES[self.run.case.test_case].replies
        twice = 0 if replies else self.accounts["duplicates"]
        several_clocks = self.streams.record == COUNTS and self.streams.uncertainty_s > 0
        if twice or self.accounts["foreign"] or several_clocks:
            return None
        ended = self._finished(phase).count + (self._started("error", phase) if replies else 0)
        lost = self._sent(phase) * generator_of(self.run).copies(self.run.case) - ended
        return lost if lost >= 0 else None

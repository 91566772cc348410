"""The table ``action_phases``: messages and latencies before, during and after each action.

A message belongs to the second in which it was due, or sent where none is due, so that those that
an action cost are counted where it cost them.  Phases are whole seconds: a record of counts knows
no smaller ones.
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
"""What was on its way when an action began was sent in the second before, at the earliest."""

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Phase:
    """Whole seconds of the window."""

    name: str
    begin: int
    end: int


def action_phases(run: Whole, streams: Streams, accounts: Row, rows: Sequence[Row]) -> list[Row]:
    """Up to three rows for each of these rows of ``outages``, in their order.

    ``accounts`` are the columns of ``messages`` that tell lost and foreign messages.  A phase that
    has no whole second has no row.
    """
    if not rows:
        return []
    count = _Count(run, streams, accounts)
    return [
        {name: row[name] for name in ("action", "node", "commanded_s")}
        | {"phase": phase.name, "from_s": float(phase.begin), "until_s": float(phase.end)}
        | count.row((run.window[0] + phase.begin, run.window[0] + phase.end))
        for row, phases in zip(rows, _phases(rows, seconds(run.window), count), strict=True)
        for phase in phases
        if phase.begin < phase.end
    ]


def _phases(rows: Sequence[Row], length: int, count: "_Count") -> list[tuple[_Phase, ...]]:
    """The phases of each action; the next one to begin ends what came before it."""
    order = sorted(range(len(rows)), key=lambda place: rows[place]["began_s"])
    begins = [max(0, floor(rows[place]["began_s"]) - MARGIN_S) for place in order]
    phases: dict[int, tuple[_Phase, ...]] = {}
    earlier = 0
    for place, begin, following in zip(order, begins, [*begins[1:], length], strict=True):
        end = min(following, max(begin, _back(rows[place], length)))
        if not count.lost_in(earlier, begin):
            end = _last_loss(end, following, count)
        phases[place] = (
            _Phase(BEFORE, earlier, begin),
            _Phase(DURING, begin, end),
            _Phase(AFTER, end, following),
        )
        earlier = end
    return [phases[place] for place in range(len(rows))]


def _back(row: Row, length: int) -> int:
    """The end of the first second with the throughput of before; of the window if it never was.

    Of that second nearly all was finished: what of it was not is still due to the action.
    """
    if row["recovery_s"] is None:
        return length
    return min(length, ceil(round(float(row["ended_s"] + row["recovery_s"]), 6)) + 1)


def _last_loss(end: int, following: int, count: "_Count") -> int:
    """The end of the last second with losses that are less than ``STEADY_S`` apart.

    Routers that learn of a neighbour again may lose a second time, when throughput is back.
    """
    while losses := [
        second
        for second in range(end, min(end + STEADY_S, following))
        if count.lost_in(second, second + 1)
    ]:
        end = losses[-1] + 1
    return end


@dataclass(frozen=True, slots=True)
class _Count:
    """Counts the messages that were started in some seconds of a run."""

    run: Whole
    streams: Streams
    accounts: Row

    def lost_in(self, begin: int, end: int) -> int:
        """Messages of these seconds of the window that were lost; 0 where that is not known."""
        return self._lost((self.run.window[0] + begin, self.run.window[0] + end)) or 0

    def row(self, phase: Window) -> dict[str, Any]:
        """The columns of a phase from its messages on."""
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
        """How many messages of a stream were started in these seconds."""
        stream = self.streams.together(name)
        if stream.timed:
            return stream.started_in(phase).count
        return int(stream.per_second(phase).sum())

    def _lost(self, phase: Window) -> int | None:
        """None where the counts of seconds do not tell which messages they are of."""
        replies = TEST_CASES[self.run.case.test_case].replies
        twice = 0 if replies else self.accounts["duplicates"]
        several_clocks = self.streams.record == COUNTS and self.streams.uncertainty_s > 0
        if twice or self.accounts["foreign"] or several_clocks:
            return None
        ended = self._finished(phase).count + (self._started("error", phase) if replies else 0)
        lost = self._sent(phase) * generator_of(self.run).copies(self.run.case) - ended
        return lost if lost >= 0 else None

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
from mqperf.record.streams.stream import Window, seconds
from mqperf.record.totals import COUNTS
from mqperf.study.load import generator_of
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
        for row, phases in zip(rows, _phases(rows, seconds(run.window)), strict=True)
        for phase in phases
        if phase.begin < phase.end
    ]


def _phases(rows: Sequence[Row], length: int) -> list[tuple[_Phase, ...]]:
    """The phases of each action; the next one to begin ends what came before it."""
    order = sorted(range(len(rows)), key=lambda place: rows[place]["began_s"])
    begins = [max(0, floor(rows[place]["began_s"]) - MARGIN_S) for place in order]
    phases: dict[int, tuple[_Phase, ...]] = {}
    earlier = 0
    for place, begin, following in zip(order, begins, [*begins[1:], length], strict=True):
        end = min(following, max(begin, _back(rows[place], length)))
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


@dataclass(frozen=True, slots=True)
class _Count:
    """Counts the messages that were started in some seconds of a run."""

    run: Whole
    streams: Streams
    accounts: Row

    def row(self, phase: Window) -> dict[str, Any]:
        """The columns of a phase from its messages on."""
        case = TEST_CASES[self.run.case.test_case]
        done = self.streams.finished(case.name).started_in(phase)
        sent = self._started("handover" if self.streams.has("handover") else "sent", phase)
        errors = self._started("error", phase)
        columns: dict[str, Any] = {
            "sent": sent,
            "finished": done.count,
            "lost": self._lost(sent, done.count + (errors if case.replies else 0)),
            "errors": errors,
        }
        for name in REFUSALS:
            columns[name] = self._started(name, phase) if self.streams.has(name) else None
        if done.count:
            columns |= quantiles("latency", done, ["p50", "p99"]) | {"latency_max_s": done.max_s}
        return columns

    def _started(self, name: str, phase: Window) -> int:
        """How many messages of a stream were started in these seconds."""
        stream = self.streams.together(name)
        if stream.timed:
            return stream.started_in(phase).count
        return int(stream.per_second(phase).sum())

    def _lost(self, sent: int, ended: int) -> int | None:
        """None where the counts of seconds do not tell which messages they are of."""
        twice = 0 if TEST_CASES[self.run.case.test_case].replies else self.accounts["duplicates"]
        several_clocks = self.streams.record == COUNTS and self.streams.uncertainty_s > 0
        if twice or self.accounts["foreign"] or several_clocks:
            return None
        lost = sent * generator_of(self.run).copies(self.run.case) - ended
        return lost if lost >= 0 else None

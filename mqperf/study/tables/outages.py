"""The table ``outages``: what each action of a run did to the messages.

Instants are those at which messages were finished, by the same rule as throughput.  In a record of
counts only the first and the last of each second are known: nothing is interpolated between them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from mqperf.base.errors import RecordError
from mqperf.plan import ActionPlan
from mqperf.record import Event, Whole
from mqperf.record.streams.counted import Counted
from mqperf.record.streams.stream import Instants, Stream

STEP_S = 0.1
"""Interval between the instants checked for recovery; a second for a record of counts."""

STEADY_S = 3
"""Throughput must stay at the level for this long to count as recovered."""

RECOVERED_SHARE = 0.9
"""Share of its level before the action that throughput must reach to count as recovered."""

LEVEL_S = 1.0
"""Shortest time before an action from which a level is computed."""


class _Finished(Protocol):
    """When messages were finished; times are seconds since the start of the window."""

    def count(self, begin: float, end: float) -> int:
        """Messages finished between the two."""
        ...

    def inside(self, begin: float, end: float) -> tuple[float, float]:
        """The largest part of this interval for which the message count is known."""
        ...

    def gap_s(self, began: float, ended: float) -> float:
        """The longest gap between messages that overlaps this interval."""
        ...

    def steps(self, first: float, last: float) -> Iterator[float]:
        """The instants at which recovery is checked."""
        ...


def outages(run: Whole, done: Stream, events: Sequence[Event]) -> list[dict[str, Any]]:
    """A row per action of the run, in the order of the plan; all times are of the window.

    ``done`` are the messages that count as finished.  Raises ``RecordError`` for an action of the
    plan that the run did not perform, or did not undo.
    """
    if not run.case.actions:
        return []
    finished = _finished(run, done)
    observed = {(event.what, event.detail.get("number")): event for event in events}
    return [
        _row(run, action, finished, _times(run, number, action, observed))
        for number, action in enumerate(run.case.actions, 1)
    ]


def _finished(run: Whole, done: Stream) -> _Finished:
    begin, end = run.load[0] - run.window[0], run.load[1] - run.window[0]
    if isinstance(done, Instants):
        return _FinishInstants(np.sort(done.finished) - run.window[0], begin, end)
    span = run.load[0], max(run.load[1], np.ceil(done.last() or 0.0))
    counts = done.per_second(span)
    unknown = np.full(len(counts), np.nan)
    first, last = done.ends(span) if isinstance(done, Counted) else (unknown, unknown)
    return _FinishCounts(counts, np.nan_to_num(first), np.nan_to_num(last, nan=1.0), round(begin))


def _times(
    run: Whole, number: int, action: ActionPlan, observed: dict[tuple[str, object], Event]
) -> tuple[float, float, float]:
    """When the action was due (within the tolerance of the plan), had begun, and was undone."""
    times, due = [], action.at_s
    for name in ("action-began", "action-ended"):
        event = observed.get((name, number))
        at = None if event is None else event.detail.get("observed")
        if event is None or not isinstance(at, float):
            raise RecordError(
                f"{run.run.path / 'events.jsonl'}: no {name} of {action.do} {number}, which the"
                " case asks for"
            )
        times.append(at - run.window[0])
        if name == "action-began" and isinstance(commanded := event.detail.get("commanded"), float):
            due = min(max(due, commanded - run.window[0]), due + action.within_s)
    return due, times[0], times[1]


def _row(
    run: Whole, action: ActionPlan, finished: _Finished, times: tuple[float, float, float]
) -> dict[str, Any]:
    due, began, ended = times
    level = _level(run, action, finished, began)
    recovery_s = None if level is None else _recovery_s(run, finished, ended, level)
    return {
        "action": action.do,
        "node": action.target,
        "commanded_s": due,
        "began_s": began,
        "ended_s": ended,
        "downtime_s": ended - began,
        "outage_s": finished.gap_s(began, _effect_end(run, action, ended, level, recovery_s)),
        "level_msg_s": level,
        "recovery_s": recovery_s,
    }


def _effect_end(
    run: Whole, action: ActionPlan, ended: float, level: float | None, recovery_s: float | None
) -> float:
    """When the effect of the action ended: at recovery, at the latest when the next one begins.

    Without a level that throughput could return to, it is the end of the action.
    """
    later = [other.at_s for other in run.case.actions if other.at_s > action.at_s]
    limit = max(ended, min([*later, run.load[1] - run.window[0]]))
    if level is None:
        return ended
    return limit if recovery_s is None else min(limit, ended + recovery_s)


def _level(run: Whole, action: ActionPlan, finished: _Finished, began: float) -> float | None:
    """Messages finished per second before the action, since the window began or the last action."""
    earlier = [other.end_s for other in run.case.actions if other.end_s <= action.at_s]
    begin, end = finished.inside(max([0.0, *(end + STEADY_S for end in earlier)]), began)
    if end - begin < LEVEL_S:
        return None
    level = finished.count(begin, end) / (end - begin)
    return level if level > 0 else None


def _recovery_s(run: Whole, finished: _Finished, ended: float, level: float) -> float | None:
    """Seconds from the end of the action until throughput has recovered for good; None if never.

    That is the first instant at which the throughput of the next second, and the mean of the next
    ``STEADY_S``, reach ``RECOVERED_SHARE`` of the level.
    """
    last = run.load[1] - run.window[0] - STEADY_S
    for at in finished.steps(ended, last):
        next_second, mean = finished.count(at, at + 1), finished.count(at, at + STEADY_S) / STEADY_S
        if min(next_second, mean) >= RECOVERED_SHARE * level:
            return at - ended
    return None


@dataclass(frozen=True, slots=True)
class _FinishInstants:
    """All finish instants, sorted; the load lasts from ``begin`` to ``end``."""

    instants: np.ndarray
    begin: float
    end: float

    def count(self, begin: float, end: float) -> int:
        first, last = np.searchsorted(self.instants, [begin, end])
        return int(last - first)

    def inside(self, begin: float, end: float) -> tuple[float, float]:
        return begin, end

    def gap_s(self, began: float, ended: float) -> float:
        latest = max(self.end, *self.instants[-1:], ended)
        instants = np.concatenate([[self.begin], self.instants, [latest]])
        gaps = np.diff(instants)
        overlaps = (instants[1:] > began) & (instants[:-1] < ended)
        return float(gaps[overlaps].max(initial=0.0))

    def steps(self, first: float, last: float) -> Iterator[float]:
        number = 0
        while (at := first + number * STEP_S) <= last:
            yield at
            number += 1


@dataclass(frozen=True, slots=True)
class _FinishCounts:
    """Messages finished in each second from ``begin`` on, and offsets of the first and the last.

    Where the offsets are not known, they are the beginning and the end of the second.
    """

    counts: np.ndarray
    first: np.ndarray
    last: np.ndarray
    begin: int

    def count(self, begin: float, end: float) -> int:
        first, last = round(begin) - self.begin, round(end) - self.begin
        return int(self.counts[max(first, 0) : max(last, 0)].sum())

    def inside(self, begin: float, end: float) -> tuple[float, float]:
        return float(np.ceil(begin)), float(np.floor(end))

    def gap_s(self, began: float, ended: float) -> float:
        """Considers gaps across a second's end only: all others are shorter than a second."""
        busy = np.flatnonzero(self.counts)
        end = max(self.begin + len(self.counts), int(np.ceil(ended)))
        begins = np.concatenate([[self.begin], busy + self.begin + self.last[busy]])
        ends = np.concatenate([busy + self.begin + self.first[busy], [end]])
        overlaps = (ends > began) & (begins < ended)
        return float((ends - begins)[overlaps].max(initial=0.0))

    def steps(self, first: float, last: float) -> Iterator[float]:
        return (float(at) for at in range(int(np.ceil(first)), int(np.floor(last)) + 1))

"""The table ``outages``: what each action of a run did to the messages.

Instants are those at which messages were finished, by the same rule as throughput.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mqperf.errors import RecordError
from mqperf.plan import ActionPlan
from mqperf.record import Event, Whole

STEP_S = 0.1
"""Recovery is looked for at instants this far apart."""

STEADY_S = 3
"""Throughput must be back for so long to count as recovered."""

BACK = 0.9
"""... at this share of its level before the action."""

LEVEL_S = 1.0
"""A level is not made of less: the shortest time before an action."""


def outages(run: Whole, done: np.ndarray, events: Sequence[Event]) -> list[dict[str, Any]]:
    """A row per action of the run, in the order of the plan; all times are of the window.

    ``done`` has started and finished of every finished message.  Raises ``RecordError`` for an
    action of the plan that the run did not take, or did not undo.
    """
    finished = np.sort(done[:, 1]) - run.window[0]
    observed = {(event.what, event.detail.get("number")): event for event in events}
    return [
        _row(run, action, finished, _times(run, number, action, observed))
        for number, action in enumerate(run.case.actions, 1)
    ]


def _times(
    run: Whole, number: int, action: ActionPlan, observed: dict[tuple[str, object], Event]
) -> tuple[float, float]:
    """When the action had begun and was undone, as observed."""
    times = []
    for what in ("action-began", "action-ended"):
        event = observed.get((what, number))
        at = None if event is None else event.detail.get("observed")
        if not isinstance(at, float):
            raise RecordError(
                f"{run.run.path / 'events.jsonl'}: no {what} of {action.do} {number}, which the"
                " case asks for"
            )
        times.append(at - run.window[0])
    return times[0], times[1]


def _row(
    run: Whole, action: ActionPlan, finished: np.ndarray, times: tuple[float, float]
) -> dict[str, Any]:
    began, ended = times
    level = _level(run, action, finished, began)
    return {
        "action": action.do,
        "node": action.node,
        "commanded_s": action.at_s,
        "began_s": began,
        "ended_s": ended,
        "downtime_s": ended - began,
        "outage_s": _outage_s(run, finished, began, ended),
        "level_msg_s": level,
        "recovery_s": None if level is None else _recovery_s(run, finished, ended, level),
    }


def _outage_s(run: Whole, finished: np.ndarray, began: float, ended: float) -> float:
    """The longest time without a finished message that overlaps the action."""
    ends = [run.load[0] - run.window[0], run.load[1] - run.window[0]]
    instants = np.concatenate([[ends[0]], finished, [max(ends[1], *finished[-1:], ended)]])
    gaps = np.diff(instants)
    overlaps = (instants[1:] > began) & (instants[:-1] < ended)
    return float(gaps[overlaps].max(initial=0.0))


def _level(run: Whole, action: ActionPlan, finished: np.ndarray, began: float) -> float | None:
    """Messages finished per second before the action, since the window or the last action."""
    earlier = [one.end_s for one in run.case.actions if one.end_s <= action.at_s]
    since = max([0.0, *(end + STEADY_S for end in earlier)])
    if began - since < LEVEL_S:
        return None
    level = _count(finished, since, began) / (began - since)
    return level if level > 0 else None


def _recovery_s(run: Whole, finished: np.ndarray, ended: float, level: float) -> float | None:
    """Seconds from the end of the action until throughput is back and stays so; None if never.

    The first instant from which on the next second, and the next ``STEADY_S`` together, reach
    ``BACK`` of the level.
    """
    last = run.load[1] - run.window[0] - STEADY_S
    for at in _steps(ended, last):
        soon, steady = _count(finished, at, at + 1), _count(finished, at, at + STEADY_S) / STEADY_S
        if min(soon, steady) >= BACK * level:
            return at - ended
    return None


def _steps(first: float, last: float) -> Iterator[float]:
    number = 0
    while (at := first + number * STEP_S) <= last:
        yield at
        number += 1


def _count(finished: np.ndarray, begin: float, end: float) -> int:
    first, last = np.searchsorted(finished, [begin, end])
    return int(last - first)

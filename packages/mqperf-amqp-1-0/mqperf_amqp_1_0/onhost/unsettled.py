"""Unsettled deliveries of a session, and the outcomes of settled ones."""

from typing import TypeAlias, TypeVar

import numpy as np

from mqperf_amqp_1_0.onhost import codec
from mqperf_amqp_1_0.onhost.codec import HIGHEST
from mqperf_amqp_1_0.onhost.dispositions import Settled
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.record import Numbers, Record
from mqperf_numbered.onhost.schedule import NS

MOST = 1 << 17
"""The most unsettled deliveries of a session; with so many, sending waits."""

OUTCOMES = {
    codec.ACCEPTED: "accepted",
    codec.REJECTED: "rejected",
    codec.RELEASED: "released",
    codec.MODIFIED: "modified",
}
"""The outcomes of deliveries, by the codes of their states."""

REFUSALS = tuple(name for code, name in OUTCOMES.items() if code != codec.ACCEPTED)
"""Outcomes of messages that were not accepted: each is a stream, and all together are errors."""

UNKNOWN = "unsettled"
"""The count of deliveries whose outcome was never received."""


Ids = TypeVar("Ids", int, Numbers)
Slots: TypeAlias = slice | Numbers
"""Indices of the arrays."""


class Unsettled:
    """The deliveries from ``lowest`` to before ``next``; those still unsettled are ``open``."""

    def __init__(self, record: Record, diary: Diary) -> None:
        self.record, self.diary = record, diary
        self.lowest = self.next = 0
        self.open = np.zeros(MOST, dtype=bool)
        self.sender = np.zeros(MOST, dtype=np.int32)
        self.number = np.zeros(MOST, dtype=np.int64)
        self.due_ns = np.zeros(MOST, dtype=np.int64)

    @property
    def room(self) -> int:
        """How many more deliveries may be sent."""
        return MOST - (self.next - self.lowest)

    @property
    def waiting(self) -> int:
        """How many deliveries are unsettled."""
        return int(self.open.sum())

    def add(self, sender: int, first: int, count: int, due_ns: Numbers | int) -> None:
        """Add the next deliveries: messages of a sender from number ``first`` on."""
        slots = _slots(self.next, self.next + count)
        self.open[slots] = True
        self.sender[slots], self.due_ns[slots] = sender, due_ns
        self.number[slots] = np.arange(first, first + count)
        self.next += count

    def pass_by(self, count: int) -> None:
        """Skip the next deliveries, which were sent settled."""
        self.next += count
        self.lowest = self.next

    def take_back(self, count: int) -> None:
        """Remove the last deliveries, which were not handed over after all."""
        self.open[_slots(self.next - count, self.next)] = False
        self.next -= count
        self.lowest = min(self.lowest, self.next)

    def dispose(self, settled: Settled, state: int | None, now_ns: int) -> None:
        """Record the state of settled deliveries, except for those settled before."""
        if len(settled.first) == 1:
            begin = _nearest(int(settled.first[0]), self.lowest)
            end = begin + _nearest(int(settled.last[0]) - int(settled.first[0]), 0) + 1
            first = max(begin, self.lowest)
            slots = _slots(first, min(end, self.next))
        else:
            begins = _nearest(settled.first, self.lowest)
            ends = begins + _nearest(settled.last - settled.first, 0) + 1
            first = max(int(begins.min()), self.lowest)
            ids = _expanded(np.maximum(begins, self.lowest), np.minimum(ends, self.next))
            slots = np.unique(ids % MOST)
        if not self.open[slots].all():
            slots = _indices(slots)[self.open[slots]]
        self._dispose(slots, state, now_ns)
        if first == self.lowest:
            self._advance()

    def _dispose(self, slots: Slots, state: int | None, now_ns: int) -> None:
        """Count the outcome of deliveries, all of which are open."""
        number = self.number[slots]
        outcome = UNKNOWN if state is None else OUTCOMES.get(state, UNKNOWN)
        self.diary.count(outcome, len(number))
        if outcome != UNKNOWN:
            due, sender = self.due_ns[slots] / NS, self.sender[slots].astype(np.int64)
            for stream in ("error", outcome) if outcome in REFUSALS else ("confirmed",):
                self.record.add(stream, sender, number, due, now_ns / NS)
        self.open[slots] = False

    def forget(self) -> None:
        """Count all open deliveries as unsettled: the session, and so their outcome, is lost."""
        self.diary.count(UNKNOWN, self.waiting)
        self.open[:] = False
        self.lowest = self.next

    def _advance(self) -> None:
        is_open = self.open[_slots(self.lowest, self.next)]
        self.lowest = self.lowest + int(is_open.argmax()) if is_open.any() else self.next


def _slots(first: int, until: int) -> Slots:
    """Return the indices of deliveries from ``first`` to before ``until``: a slice, mostly."""
    begin = first % MOST
    if begin + until - first <= MOST:
        return slice(begin, begin + max(0, until - first))
    return np.arange(first, until) % MOST


def _indices(slots: Slots) -> Numbers:
    return np.arange(slots.start, slots.stop) if isinstance(slots, slice) else slots


def _nearest(ids: Ids, to: int) -> Ids:
    """Undo the wrap-around of ids at 2**32: return the numbers nearest to ``to``."""
    numbers: Ids = (ids - to + HIGHEST // 2) % HIGHEST - HIGHEST // 2 + to
    return numbers


def _expanded(begin: Numbers, end: Numbers) -> Numbers:
    """Return all numbers from each begin to before its end."""
    counts = np.maximum(end - begin, 0)
    skipped = np.repeat(np.cumsum(counts) - counts, counts)
    numbers: Numbers = np.repeat(begin, counts) + np.arange(len(skipped)) - skipped
    return numbers

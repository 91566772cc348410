"""Deliveries of a session that nobody has settled yet, and what became of the others."""

from typing import TypeAlias, TypeVar

import numpy as np

from mqperf_amqp_1_0.onhost import codec
from mqperf_amqp_1_0.onhost.codec import HIGHEST
from mqperf_amqp_1_0.onhost.dispositions import Settled
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.record import Numbers, Record
from mqperf_numbered.onhost.schedule import NS

MOST = 1 << 17
"""Deliveries of a session that may be unsettled; whoever has so many waits for some of them."""

OUTCOMES = {
    codec.ACCEPTED: "accepted",
    codec.REJECTED: "rejected",
    codec.RELEASED: "released",
    codec.MODIFIED: "modified",
}
"""What may become of a delivery."""

REFUSALS = tuple(name for code, name in OUTCOMES.items() if code != codec.ACCEPTED)
"""Outcomes of messages that were not accepted: each is a stream, and all together are errors."""

UNKNOWN = "unsettled"
"""How deliveries count of which nobody told what became of them."""


Ids = TypeVar("Ids", int, Numbers)
Slots: TypeAlias = slice | Numbers
"""Places in the arrays."""


class Unsettled:
    """The deliveries from ``lowest`` to before ``next``, of which some are ``open``."""

    def __init__(self, record: Record, diary: Diary) -> None:
        self.record, self.diary = record, diary
        self.lowest = self.next = 0
        self.open = np.zeros(MOST, dtype=bool)
        self.sender = np.zeros(MOST, dtype=np.int32)
        self.number = np.zeros(MOST, dtype=np.int64)
        self.due_ns = np.zeros(MOST, dtype=np.int64)

    @property
    def room(self) -> int:
        """How many more may be sent."""
        return MOST - (self.next - self.lowest)

    @property
    def waiting(self) -> int:
        """How many nobody has settled."""
        return int(self.open.sum())

    def add(self, sender: int, first: int, count: int, due_ns: Numbers | int) -> None:
        """Take in the next deliveries: messages of a sender from number ``first`` on."""
        slots = _slots(self.next, self.next + count)
        self.open[slots] = True
        self.sender[slots], self.due_ns[slots] = sender, due_ns
        self.number[slots] = np.arange(first, first + count)
        self.next += count

    def pass_by(self, count: int) -> None:
        """The next deliveries are settled already."""
        self.next += count
        self.lowest = self.next

    def take_back(self, count: int) -> None:
        """The last deliveries were not handed over after all."""
        self.open[_slots(self.next - count, self.next)] = False
        self.next -= count
        self.lowest = min(self.lowest, self.next)

    def dispose(self, settled: Settled, state: int | None, now_ns: int) -> None:
        """Deliveries were settled, so that their state is known, unless it was before."""
        if len(settled.first) == 1:
            begin = _nearest(int(settled.first[0]), self.lowest)
            end = begin + _nearest(int(settled.last[0]) - int(settled.first[0]), 0) + 1
            first = max(begin, self.lowest)
            slots = _slots(first, min(end, self.next))
        else:
            begins = _nearest(settled.first, self.lowest)
            ends = begins + _nearest(settled.last - settled.first, 0) + 1
            first = max(int(begins.min()), self.lowest)
            every = _every(np.maximum(begins, self.lowest), np.minimum(ends, self.next)) % MOST
            slots = np.unique(every)
        if not self.open[slots].all():
            slots = _numbers(slots)[self.open[slots]]
        self._dispose(slots, state, now_ns)
        if first == self.lowest:
            self._advance()

    def _dispose(self, slots: Slots, state: int | None, now_ns: int) -> None:
        """Count what became of deliveries, all of them open."""
        number = self.number[slots]
        outcome = UNKNOWN if state is None else OUTCOMES.get(state, UNKNOWN)
        self.diary.count(outcome, len(number))
        if outcome != UNKNOWN:
            due, sender = self.due_ns[slots] / NS, self.sender[slots].astype(np.int64)
            for stream in ("error", outcome) if outcome in REFUSALS else ("confirmed",):
                self.record.add(stream, sender, number, due, now_ns / NS)
        self.open[slots] = False

    def forget(self) -> None:
        """The session is gone: nobody will ever say what became of these."""
        self.diary.count(UNKNOWN, self.waiting)
        self.open[:] = False
        self.lowest = self.next

    def _advance(self) -> None:
        still = self.open[_slots(self.lowest, self.next)]
        self.lowest = self.lowest + int(still.argmax()) if still.any() else self.next


def _slots(first: int, until: int) -> Slots:
    """Where deliveries from the first to before the last are kept: a slice, mostly."""
    begin = first % MOST
    if begin + until - first <= MOST:
        return slice(begin, begin + max(0, until - first))
    return np.arange(first, until) % MOST


def _numbers(slots: Slots) -> Numbers:
    return np.arange(slots.start, slots.stop) if isinstance(slots, slice) else slots


def _nearest(ids: Ids, to: int) -> Ids:
    """Ids that began anew at 2**32, as the numbers nearest to one."""
    numbers: Ids = (ids - to + HIGHEST // 2) % HIGHEST - HIGHEST // 2 + to
    return numbers


def _every(begin: Numbers, end: Numbers) -> Numbers:
    """All numbers from each begin to before its end."""
    counts = np.maximum(end - begin, 0)
    skipped = np.repeat(np.cumsum(counts) - counts, counts)
    numbers: Numbers = np.repeat(begin, counts) + np.arange(len(skipped)) - skipped
    return numbers

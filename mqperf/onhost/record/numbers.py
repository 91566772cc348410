"""Sequence numbers of messages, as ranges: which of a sender's were seen, and which more than once.

A sender numbers its messages; what was lost, duplicated or is foreign follows from the numbers
alone, exactly, without any message being kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ranges = NDArray[np.int64]
"""Rows of first and last number, sorted, none of which touches the next."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of one sender that were seen in one stream of a process.

    ``again`` has rows of first, last and how often each was seen beyond the first time.
    ``reordered`` counts the messages that, when first seen, came after a higher number: RFC 4737.
    """

    ranges: Ranges
    again: NDArray[np.int64]
    reordered: int = 0

    @property
    def count(self) -> int:
        """Messages, each as often as it was seen."""
        return size(self.ranges) + _times(self.again, _lengths(self.again))

    def among(self, ranges: Ranges) -> int:
        """How many of them have a number in these ranges, likewise."""
        return common(self.ranges, ranges) + _times(self.again, _inside(self.again, ranges))


NONE = Numbers(np.empty((0, 2), dtype=np.int64), np.empty((0, 3), dtype=np.int64))


def joined(
    parts: Sequence[tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int, int]], int]],
) -> Numbers:
    """The numbers of ranges, again and reordered, of parts that follow each other.

    Raises ``ValueError`` for ranges that are not in order, and for numbers that were seen again
    and never a first time.
    """
    ranges = np.array([row for rows, _, _ in parts for row in rows], dtype=np.int64).reshape(-1, 2)
    again = np.array([row for _, rows, _ in parts for row in rows], dtype=np.int64).reshape(-1, 3)
    for rows, gap in ((ranges, 2), (again, 1)):
        if (_lengths(rows) < 1).any() or (rows[1:, 0] - rows[:-1, 1] < gap).any():
            raise ValueError("ranges of sequence numbers are not in order")
    if (_inside(again, ranges) != _lengths(again)).any():
        raise ValueError("a number was seen again that was not seen before")
    numbers = Numbers(ranges, again, sum(reordered for _, _, reordered in parts))
    if numbers.reordered > size(ranges):
        raise ValueError("more messages were reordered than received")
    return numbers


def size(ranges: Ranges) -> int:
    """How many numbers there are."""
    return int(_lengths(ranges).sum())


def union(parts: Sequence[Ranges]) -> Ranges:
    """The numbers that are in any of these; parts need not be sorted."""
    every = np.concatenate([NONE.ranges, *parts])
    if not len(every):
        return every
    every = every[np.argsort(every[:, 0], kind="stable")]
    reached = np.maximum.accumulate(every[:, 1])
    begins = np.flatnonzero(np.append(True, every[1:, 0] > reached[:-1] + 1))
    ends = np.append(begins[1:], len(every)) - 1
    return np.column_stack([every[begins, 0], reached[ends]])


def common(ranges: Ranges, others: Ranges) -> int:
    """How many numbers are in both."""
    return size(ranges) + size(others) - size(union([ranges, others]))


def of(numbers: NDArray[np.int64]) -> Ranges:
    """The ranges of numbers that are sorted and differ."""
    if not len(numbers):
        return NONE.ranges
    breaks = np.flatnonzero(np.diff(numbers) > 1)
    first = numbers[np.append(0, breaks + 1)]
    return np.column_stack([first, numbers[np.append(breaks, len(numbers) - 1)]])


def holds(ranges: Ranges, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of the numbers are in the ranges."""
    return _up_to(ranges, numbers) > _up_to(ranges, numbers - 1)


def _lengths(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    lengths: NDArray[np.int64] = rows[:, 1] - rows[:, 0] + 1
    return lengths


def _inside(rows: NDArray[np.int64], ranges: Ranges) -> NDArray[np.int64]:
    """How many numbers of each row are in the ranges."""
    return _up_to(ranges, rows[:, 1]) - _up_to(ranges, rows[:, 0] - 1)


def _up_to(ranges: Ranges, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many numbers of the ranges are not above each of these."""
    if not len(ranges):
        return np.zeros(len(numbers), dtype=np.int64)
    before = np.append(0, np.cumsum(_lengths(ranges)))
    place = np.searchsorted(ranges[:, 0], numbers, side="right")
    last = np.maximum(place - 1, 0)
    over = np.maximum(ranges[last, 1] - numbers, 0)
    counted: NDArray[np.int64] = np.where(place > 0, before[place] - over, 0)
    return counted


def _times(again: NDArray[np.int64], lengths: NDArray[np.int64]) -> int:
    return sum(int(more) * int(n) for more, n in zip(again[:, 2], lengths, strict=True))

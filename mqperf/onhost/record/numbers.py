"""Sequence numbers of messages, as ranges: which of a sender's were seen, and which repeatedly.

A sender numbers its messages; lost, duplicate and foreign messages follow exactly from the numbers
alone, without keeping any message.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ranges = NDArray[np.int64]
"""Rows of first and last number, sorted, neither overlapping nor adjacent."""


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
        """The number of messages, duplicates included."""
        return size(self.ranges) + _times(self.again, _lengths(self.again))

    def among(self, ranges: Ranges) -> int:
        """Return how many messages have a number in these ranges, duplicates included."""
        return common(self.ranges, ranges) + _times(self.again, _inside(self.again, ranges))


NONE = Numbers(np.empty((0, 2), dtype=np.int64), np.empty((0, 3), dtype=np.int64))


def joined(
    parts: Sequence[tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int, int]], int]],
) -> Numbers:
    """Join consecutive parts, each with ``ranges``, ``again`` and ``reordered``.

    Raises ``ValueError`` for ranges that are not in order, and for numbers in ``again`` that are
    not in ``ranges``.
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
    """Return how many numbers are in the ranges."""
    return int(_lengths(ranges).sum())


def union(parts: Sequence[Ranges]) -> Ranges:
    """Return the numbers that are in any of these parts, which need not be sorted."""
    rows = np.concatenate([NONE.ranges, *parts])
    if not len(rows):
        return rows
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    reached = np.maximum.accumulate(rows[:, 1])
    begins = np.flatnonzero(np.append(True, rows[1:, 0] > reached[:-1] + 1))
    ends = np.append(begins[1:], len(rows)) - 1
    return np.column_stack([rows[begins, 0], reached[ends]])


def common(ranges: Ranges, others: Ranges) -> int:
    """Return how many numbers are in both."""
    return size(ranges) + size(others) - size(union([ranges, others]))


def of(numbers: NDArray[np.int64]) -> Ranges:
    """Return the ranges of numbers that are sorted and distinct."""
    if not len(numbers):
        return NONE.ranges
    breaks = np.flatnonzero(np.diff(numbers) > 1)
    first = numbers[np.append(0, breaks + 1)]
    return np.column_stack([first, numbers[np.append(breaks, len(numbers) - 1)]])


def holds(ranges: Ranges, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which of the numbers are in the ranges."""
    return _up_to(ranges, numbers) > _up_to(ranges, numbers - 1)


def _lengths(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    lengths: NDArray[np.int64] = rows[:, 1] - rows[:, 0] + 1
    return lengths


def _inside(rows: NDArray[np.int64], ranges: Ranges) -> NDArray[np.int64]:
    """Return how many numbers of each row are in the ranges."""
    return _up_to(ranges, rows[:, 1]) - _up_to(ranges, rows[:, 0] - 1)


def _up_to(ranges: Ranges, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each number how many numbers of the ranges are at most as large."""
    if not len(ranges):
        return np.zeros(len(numbers), dtype=np.int64)
    before = np.append(0, np.cumsum(_lengths(ranges)))
    begun = np.searchsorted(ranges[:, 0], numbers, side="right")
    last = np.maximum(begun - 1, 0)
    above = np.maximum(ranges[last, 1] - numbers, 0)
    counts: NDArray[np.int64] = np.where(begun > 0, before[begun] - above, 0)
    return counts


def _times(again: NDArray[np.int64], lengths: NDArray[np.int64]) -> int:
    return sum(int(more) * int(n) for more, n in zip(again[:, 2], lengths, strict=True))

"""Histograms that others recorded, of any range, number of digits and unit, in buckets of ours.

A value counts as the middle of its bucket.  Ours tell three digits; of more, the rest is lost.
"""

from collections.abc import Iterable

import numpy as np

from mqperf.onhost.record.hdr import LENGTH, Counts, Histogram, highest, indices
from mqperf.record.streams.hdr_log import WORD, buckets, unpacked

MOST_DIGITS = 5
"""HdrHistogram knows no more."""

MOST_BITS = 53
"""A value, and a bucket of it, is a whole number that a float64 can hold."""


def converted(encoded: str, unit_s: float) -> Histogram:
    """The histogram of its compressed form, whose values are whole numbers of ``unit_s``.

    Raises ``ValueError`` for what is none.
    """
    content, (digits, lowest, most) = unpacked(encoded, WORD * _length(MOST_DIGITS, 1, MOST_BITS))
    if not (0 <= digits <= MOST_DIGITS and 1 <= lowest < most < 1 << MOST_BITS):
        raise ValueError("the histogram has a range that no recorder makes")
    unit_bits, half_bits = lowest.bit_length() - 1, _half_bits(digits)
    index, count = buckets(content, _length(digits, lowest, most.bit_length()))
    return _in_ours(_middles(index, unit_bits, half_bits) * unit_s, count)


def merged(histograms: Iterable[Histogram]) -> Histogram:
    """All of them together; nothing is lost by merging, whatever the order."""
    counts, beyond = np.zeros(LENGTH, dtype=np.int64), 0
    for histogram in histograms:
        counts += histogram.counts
        beyond += histogram.beyond
    return Histogram(counts, beyond)


def _half_bits(digits: int) -> int:
    """How many values are told apart, rounded up: half of that as bits."""
    told_apart: int = 2 * 10**digits
    return (told_apart - 1).bit_length() - 1


def _length(digits: int, lowest: int, bits: int) -> int:
    """Buckets of a range whose values have up to so many bits."""
    half_bits = _half_bits(digits)
    doublings = max(bits - (lowest.bit_length() - 1) - half_bits, 1)
    return (doublings + 1) << half_bits


def _middles(index: Counts, unit_bits: int, half_bits: int) -> np.ndarray:
    last = highest(index, unit_bits, half_bits)
    first = np.where(index > 0, highest(np.maximum(index - 1, 0), unit_bits, half_bits) + 1, 0)
    return (first + last) / 2


def _in_ours(values_s: np.ndarray, count: Counts) -> Histogram:
    counts = np.zeros(LENGTH, dtype=np.int64)
    index, beyond = indices(values_s)
    kept = len(index)  # values rise: those beyond an hour are the last
    np.add.at(counts, index, count[:kept])
    return Histogram(counts, int(count[kept:].sum()) if beyond else 0)

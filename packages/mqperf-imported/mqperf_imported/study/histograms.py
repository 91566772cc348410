"""Converts histograms of any range, precision and unit to mqperf's buckets.

A value counts as the middle of its bucket.  Digits after the third are lost.
"""

from collections.abc import Iterable

import numpy as np

from mqperf.onhost.record.hdr import LENGTH, Counts, Histogram, highest, indices
from mqperf.record.streams.hdr_log import WORD, buckets, unpacked

MOST_DIGITS = 5
"""The most significant digits of HdrHistogram."""

MOST_BITS = 53
"""The most bits of a value, so that float64 represents it exactly."""


def converted(encoded: str, unit_s: float) -> Histogram:
    """Decode a compressed histogram, whose values are whole numbers of ``unit_s``.

    Raises ``ValueError`` if it is malformed.
    """
    content, (digits, lowest, high) = unpacked(encoded, WORD * _length(MOST_DIGITS, 1, MOST_BITS))
    if not (0 <= digits <= MOST_DIGITS and 1 <= lowest < high < 1 << MOST_BITS):
        raise ValueError("the histogram has a range that no recorder makes")
    unit_bits, half_bits = lowest.bit_length() - 1, _half_bits(digits)
    index, count = buckets(content, _length(digits, lowest, high.bit_length()))
    return _histogram(_middles(index, unit_bits, half_bits) * unit_s, count)


def merged(histograms: Iterable[Histogram]) -> Histogram:
    """Return the sum of the histograms, which is exact in any order."""
    counts, beyond = np.zeros(LENGTH, dtype=np.int64), 0
    for histogram in histograms:
        counts += histogram.counts
        beyond += histogram.beyond
    return Histogram(counts, beyond)


def _half_bits(digits: int) -> int:
    """Return log2 of half the sub-buckets: those for so many digits, rounded up to a power of 2."""
    sub_buckets: int = 2 * 10**digits
    return (sub_buckets - 1).bit_length() - 1


def _length(digits: int, lowest: int, bits: int) -> int:
    """Return the number of buckets of a range whose values have up to ``bits`` bits."""
    half_bits = _half_bits(digits)
    doublings = max(bits - (lowest.bit_length() - 1) - half_bits, 1)
    return (doublings + 1) << half_bits


def _middles(index: Counts, unit_bits: int, half_bits: int) -> np.ndarray:
    last = highest(index, unit_bits, half_bits)
    first = np.where(index > 0, highest(np.maximum(index - 1, 0), unit_bits, half_bits) + 1, 0)
    return (first + last) / 2


def _histogram(values_s: np.ndarray, count: Counts) -> Histogram:
    counts = np.zeros(LENGTH, dtype=np.int64)
    index, beyond = indices(values_s)
    kept = len(index)  # values are in order: those above an hour come last
    np.add.at(counts, index, count[:kept])
    return Histogram(counts, int(count[kept:].sum()) if beyond else 0)

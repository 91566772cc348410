"""Latency histograms compatible with HdrHistogram: three significant digits, exactly mergeable.

G. Tene, HdrHistogram: A High Dynamic Range Histogram, 2012.  Values are whole nanoseconds, the
default of its tools; they are counted in buckets whose width doubles as values double.  Whole
arrays are folded, because recording one value at a time is fifty times slower.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LOWEST_NS = 1_000
"""The smallest value that differs from zero; epoch seconds in a float64 resolve no smaller ones."""

HIGHEST_NS = 3_600_000_000_000
DIGITS = 3

UNIT_BITS = 9
"""Values are counted in units of 512 ns, the largest power of two below ``LOWEST_NS``."""

HALF_BITS = 10
HALF = 1 << HALF_BITS
"""Buckets per doubling: half of the 2 * 10**3 distinct values, rounded up to a power of two."""

BUCKETS = (HIGHEST_NS >> (UNIT_BITS + HALF_BITS + 1)).bit_length() + 1
LENGTH = (BUCKETS + 1) * HALF

CHUNK = 1 << 15
"""Values folded at a time, so that they stay in the processor's cache."""

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts of latencies by bucket; ``beyond`` counts those above an hour, which have no bucket.

    Negative latencies, which result only from differing clocks, are counted as zero.
    """

    counts: Counts
    beyond: int = 0

    @property
    def total(self) -> int:
        """The number of latencies in the buckets."""
        return int(self.counts.sum())


def fold(latencies_s: NDArray[np.float64]) -> Histogram:
    """Compute the histogram of latencies in seconds."""
    counts, beyond = np.zeros(LENGTH, dtype=np.int64), 0
    for start in range(0, len(latencies_s), CHUNK):
        index, outside = indices(latencies_s[start : start + CHUNK])
        counts += np.bincount(index, minlength=LENGTH)
        beyond += outside
    return Histogram(counts, beyond)


def highest_ns(indices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the largest value, in nanoseconds, of each of these buckets."""
    return highest(indices, UNIT_BITS, HALF_BITS)


def highest(indices: NDArray[np.int64], unit_bits: int, half_bits: int) -> NDArray[np.int64]:
    """Do so for any range: units of ``2**unit_bits``, and ``2**half_bits`` buckets per doubling."""
    half = 1 << half_bits
    doubling = np.maximum((indices >> half_bits) - 1, 0)
    within = np.where(indices < half, indices, (indices & (half - 1)) + half)
    values: NDArray[np.int64] = ((within + 1) << (doubling + unit_bits)) - 1
    return values


def lowest_ns(indices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the smallest value, in nanoseconds, of each of these buckets."""
    return np.where(indices > 0, highest_ns(np.maximum(indices - 1, 0)) + 1, 0)


def middle_s(indices: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the middle of each of these buckets, in seconds."""
    return (lowest_ns(indices) + highest_ns(indices)) / 2e9


def indices(latencies_s: NDArray[np.float64]) -> tuple[NDArray[np.int64], int]:
    """Return the bucket of each value up to ``HIGHEST_NS``, and the number of larger values."""
    values = np.rint(np.maximum(latencies_s, 0) * 1e9).astype(np.int64)
    outside = int(np.count_nonzero(values > HIGHEST_NS))
    if outside:
        values = values[values <= HIGHEST_NS]
    units = values >> UNIT_BITS
    # The exponent of a float64 is the position of the highest bit of the whole number in it.
    exponents = (units | (2 * HALF - 1)).astype(np.float64).view(np.int64) >> 52
    doubling = exponents - (1023 + HALF_BITS)
    return (doubling << HALF_BITS) + (units >> doubling), outside

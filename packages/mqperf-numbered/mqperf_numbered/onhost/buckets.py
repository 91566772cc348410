"""Counts latencies of each second in the buckets of a histogram.

The latest seconds are arrays in memory; older ones are compressed, 1 to 20 kB each, in a temporary
file, and decompressed if one of their messages finishes late.
"""

import os
import tempfile
import weakref
import zlib

import numpy as np
from numpy.typing import NDArray

from mqperf.onhost.record.hdr import LENGTH

AT_HAND = 8
"""Histograms that are kept in memory: 190 kB each."""

QUICK = 1
"""Compression level: the fastest, as compressing delays the load."""

PAIR = np.dtype([("bucket", "<i4"), ("count", "<i8")])

Counts = NDArray[np.int64]


class Buckets:
    """How many latencies of each second are in each bucket.

    ``whole`` has the histograms in memory, ``packed`` the offsets and lengths of those in the file.
    """

    def __init__(self) -> None:
        self.whole: dict[int, Counts] = {}
        self.packed: dict[int, tuple[int, int]] = {}
        self.file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with this object
        weakref.finalize(self, self.file.close)

    def add(self, second: Counts, bucket: Counts) -> None:
        """Count latencies, each with its second and its bucket."""
        if not len(second):
            return
        first = int(second[0])
        if (second == first).all():
            self._add(first, bucket)
            return
        for distinct in np.unique(second):
            self._add(int(distinct), bucket[second == distinct])

    def of(self, second: int) -> Counts:
        """Return the histogram of a second."""
        return self.whole[second] if second in self.whole else self._unpacked(second)

    def _add(self, second: int, bucket: Counts) -> None:
        counts = np.bincount(bucket)
        self._in_memory(second)[: len(counts)] += counts

    def _in_memory(self, second: int) -> Counts:
        counts = self.whole.pop(second, None)
        if counts is None:
            if len(self.whole) >= AT_HAND:
                oldest = next(iter(self.whole))
                self._store(oldest, _packed(self.whole.pop(oldest)))
            counts = self._unpacked(second)
            self.packed.pop(second, None)
        self.whole[second] = counts  # the least recently used is packed first
        return counts

    def _store(self, second: int, content: bytes) -> None:
        self.packed[second] = self.file.seek(0, os.SEEK_END), len(content)
        self.file.write(content)

    def _unpacked(self, second: int) -> Counts:
        counts = np.zeros(LENGTH, dtype=np.int64)
        if (extent := self.packed.get(second)) is not None:
            offset, length = extent
            self.file.seek(offset)
            pairs = np.frombuffer(zlib.decompress(self.file.read(length)), PAIR)
            counts[pairs["bucket"]] = pairs["count"]
        return counts


def _packed(counts: Counts) -> bytes:
    filled = np.flatnonzero(counts)
    pairs = np.zeros(len(filled), PAIR)
    pairs["bucket"], pairs["count"] = filled, counts[filled]
    return zlib.compress(pairs.tobytes(), QUICK)

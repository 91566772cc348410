"""Latencies of each second in buckets, while they are counted.

The seconds at hand are whole histograms; older ones are packed, 1 to 20 kB each, in a temporary
file, and unpacked should one of their messages finish after all.
"""

import os
import tempfile
import weakref
import zlib

import numpy as np
from numpy.typing import NDArray

from mqperf.onhost.record.hdr import LENGTH

AT_HAND = 8
"""Histograms that are kept whole: 190 kB each."""

QUICK = 1
"""The level of compression: one second must not keep the next waiting."""

PAIR = np.dtype([("bucket", "<i4"), ("count", "<i8")])

Counts = NDArray[np.int64]


class Buckets:
    """How many latencies of each second are in each bucket.

    ``packed`` are those that are over: where in the file they begin, and how long they are.
    """

    def __init__(self) -> None:
        self.whole: dict[int, Counts] = {}
        self.packed: dict[int, tuple[int, int]] = {}
        self.file = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed when we are gone
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
        """The histogram of a second."""
        return self.whole[second] if second in self.whole else self._unpacked(second)

    def _add(self, second: int, bucket: Counts) -> None:
        counts = np.bincount(bucket)
        self._at_hand(second)[: len(counts)] += counts

    def _at_hand(self, second: int) -> Counts:
        counts = self.whole.pop(second, None)
        if counts is None:
            if len(self.whole) >= AT_HAND:
                oldest = next(iter(self.whole))
                self._put_away(oldest, _packed(self.whole.pop(oldest)))
            counts = self._unpacked(second)
            self.packed.pop(second, None)
        self.whole[second] = counts  # the last one touched is the last to be packed
        return counts

    def _put_away(self, second: int, content: bytes) -> None:
        self.packed[second] = self.file.seek(0, os.SEEK_END), len(content)
        self.file.write(content)

    def _unpacked(self, second: int) -> Counts:
        counts = np.zeros(LENGTH, dtype=np.int64)
        if (place := self.packed.get(second)) is not None:
            begin, length = place
            self.file.seek(begin)
            pairs = np.frombuffer(zlib.decompress(self.file.read(length)), PAIR)
            counts[pairs["bucket"]] = pairs["count"]
        return counts


def _packed(counts: Counts) -> bytes:
    filled = np.flatnonzero(counts)
    pairs = np.zeros(len(filled), PAIR)
    pairs["bucket"], pairs["count"] = filled, counts[filled]
    return zlib.compress(pairs.tobytes(), QUICK)

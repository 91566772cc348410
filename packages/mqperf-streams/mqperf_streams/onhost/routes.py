"""Which partition of a super stream has a message of a thread, and which of its messages it is."""

import numpy as np

from mqperf_numbered.onhost.record import Numbers
from mqperf_streams.onhost.murmur import murmur3

KEY_COUNT = 1_000
"""Routing keys, ``0`` to ``999``, each of a message in so many of a thread."""


class Routes:
    """Those of every thread of a load: they depend on the number of a message alone.

    Keys of a partition come one after the other, as clients gather them for a frame.
    """

    def __init__(self, partitions: int) -> None:
        of_keys = [murmur3(str(key).encode()) % partitions for key in range(KEY_COUNT)]
        self.lengths = np.bincount(of_keys, minlength=partitions)
        self.ends = np.cumsum(self.lengths)
        self.partition = np.sort(of_keys)

    def numbered(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """The partition of each message, and its number among those of the partition, from 0."""
        rounds, place = np.divmod(numbers, KEY_COUNT)
        partition = self.partition[place]
        first = self.ends[partition] - self.lengths[partition]
        return partition, rounds * self.lengths[partition] + place - first

    def run(self, number: int) -> tuple[int, int]:
        """The partition of a message, and how many from this one on are of it."""
        place = number % KEY_COUNT
        partition = int(self.partition[place])
        return partition, int(self.ends[partition]) - place

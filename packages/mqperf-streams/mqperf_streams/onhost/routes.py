"""Assigns messages of a thread to partitions of its super stream, and numbers them there."""

import numpy as np

from mqperf_numbered.onhost.record import Numbers
from mqperf_streams.onhost.murmur import murmur3

KEY_COUNT = 1_000
"""Routing keys, ``0`` to ``999``, each of one in 1,000 messages of a thread."""


class Routes:
    """The routes of every thread of a load, which depend on the number of a message alone.

    Keys of a partition are consecutive, as clients gather messages of a partition for a frame.
    """

    def __init__(self, partitions: int) -> None:
        partition_of_key = [murmur3(str(key).encode()) % partitions for key in range(KEY_COUNT)]
        self.lengths = np.bincount(partition_of_key, minlength=partitions)
        self.ends = np.cumsum(self.lengths)
        self.partition = np.sort(partition_of_key)

    def numbered(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """Return the partition of each message, and its number within the partition, from 0."""
        rounds, key = np.divmod(numbers, KEY_COUNT)
        partition = self.partition[key]
        first = self.ends[partition] - self.lengths[partition]
        return partition, rounds * self.lengths[partition] + key - first

    def run(self, number: int) -> tuple[int, int]:
        """Return the partition of a message, and how many from this one on are in it."""
        key = number % KEY_COUNT
        partition = int(self.partition[key])
        return partition, int(self.ends[partition]) - key

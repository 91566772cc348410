"""Which partition of a super stream has a message of a thread, and which of its messages it is."""

from collections.abc import Iterator

import numpy as np

from mqperf_numbered.onhost.record import Numbers
from mqperf_streams.onhost.murmur import murmur3

KEYS = 1_000
"""Routing keys, ``0`` to ``999``, which the messages of a thread have in turn."""

OF_KEY = 100
"""Messages in a row that have a key: as many as clients for Java publish in a frame by default."""


class Routes:
    """Those of every thread of a load: they depend on the number of a message alone.

    A stream that is no super stream is one of one partition, and asks for no keys.
    """

    def __init__(self, partitions: int) -> None:
        of_keys = [murmur3(str(key).encode()) % partitions for key in range(KEYS)]
        self.partition = np.repeat(of_keys, OF_KEY)
        of_each = [np.flatnonzero(self.partition == place) for place in range(partitions)]
        self.lengths = np.array([*map(len, of_each)])
        self.before = np.zeros(len(self.partition), dtype=np.int64)
        for places in of_each:
            self.before[places] = np.arange(len(places))

    def numbered(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """The partition of each message, and its number among those of the partition, from 0."""
        rounds, place = np.divmod(numbers, len(self.partition))
        partition = self.partition[place]
        return partition, rounds * self.lengths[partition] + self.before[place]

    def runs(self, first: int, count: int) -> Iterator[tuple[int, slice]]:
        """The partition of the messages from ``first`` on, and which of them are of one key."""
        if len(self.lengths) == 1:
            yield 0, slice(count)
            return
        begin = 0
        while begin < count:
            place = (first + begin) % len(self.partition)
            end = min(count, begin + OF_KEY - place % OF_KEY)
            yield int(self.partition[place]), slice(begin, end)
            begin = end

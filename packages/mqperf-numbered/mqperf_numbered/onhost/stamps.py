"""The stamp that every message carries: of which run and sender, its number, when due, when sent.

32 bytes, little-endian, at the same place in every message of a sender, so that a block of messages
is stamped, and read, as one array.
"""

import numpy as np
from numpy.typing import NDArray

from mqperf_numbered.onhost.stamp_layout import FIELDS

STAMP = np.dtype([*FIELDS])
SIZE = STAMP.itemsize

Bytes = NDArray[np.uint8]
Stamps = NDArray[np.void]

ALL_BLOCKS_BYTES = 1 << 26
"""Of the blocks of all threads of a process."""

MOST_IN_BLOCK = 1024


def places(rows: Bytes, at: int) -> Stamps:
    """The stamps in rows of bytes, each from ``at`` on: what is written to them is in the rows."""
    return np.ndarray(len(rows), STAMP, rows.data, at, (rows.shape[1],))


def block(message: bytes, at: int, most_bytes: int, threads: int) -> tuple[Bytes, Stamps]:
    """A message again and again, in as many rows as a thread has room for, and their stamps.

    The stamp begins at ``at``; a block has ``most_bytes``, or less where there are many threads.
    """
    room = min(most_bytes, ALL_BLOCKS_BYTES // threads)
    count = max(1, min(room // len(message), MOST_IN_BLOCK))
    rows = np.tile(np.frombuffer(message, np.uint8), (count, 1))
    return rows, places(rows, at)


def within(buffer: bytearray, at: int, size: int, unit: int = 0, rows: int = 1) -> bytes:
    """The stamps of bodies of one size, the first of them there and the next a unit later.

    Those of no run for bodies that have none.
    """
    if size < SIZE:
        return bytes(SIZE * rows)
    return np.ndarray(rows, STAMP, buffer, at, (unit,)).tobytes()


def read(places: Bytes) -> Stamps:
    """The stamps in rows of bytes, as a copy: the bytes are those of a buffer, which changes."""
    return places.copy().view(STAMP).ravel()

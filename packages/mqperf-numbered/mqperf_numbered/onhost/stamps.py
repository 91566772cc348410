"""The stamp that every message carries: run, sender, number, due time, sending time.

32 bytes, little-endian, at the same offset in every message of a sender, so that a block of
messages is stamped, and read, as one array.
"""

import numpy as np
from numpy.typing import NDArray

from mqperf_numbered.onhost.stamp_layout import FIELDS

STAMP = np.dtype([*FIELDS])
SIZE = STAMP.itemsize

Bytes = NDArray[np.uint8]
Stamps = NDArray[np.void]

ALL_BLOCKS_BYTES = 1 << 26
"""The most bytes of the blocks of all threads of a process together."""

MOST_IN_BLOCK = 1024


def places(rows: Bytes, at: int) -> Stamps:
    """Return a view of the stamps in rows of bytes, each at offset ``at``."""
    return np.ndarray(len(rows), STAMP, rows.data, at, (rows.shape[1],))


def block(message: bytes, at: int, most_bytes: int, threads: int) -> tuple[Bytes, Stamps]:
    """Return copies of a message, a row each, as many as a thread has room for, and their stamps.

    The stamp begins at ``at``; a block has ``most_bytes``, or less if there are many threads.
    """
    room = min(most_bytes, ALL_BLOCKS_BYTES // threads)
    count = max(1, min(room // len(message), MOST_IN_BLOCK))
    rows = np.tile(np.frombuffer(message, np.uint8), (count, 1))
    return rows, places(rows, at)


def within(buffer: bytearray, at: int, size: int, unit: int = 0, rows: int = 1) -> bytes:
    """Return the stamps of bodies of one size, the first at ``at``, the others ``unit`` apart.

    They are all zero, the stamps of no run, if bodies are too short for a stamp.
    """
    if size < SIZE:
        return bytes(SIZE * rows)
    return np.ndarray(rows, STAMP, buffer, at, (unit,)).tobytes()


def read(places: Bytes) -> Stamps:
    """Return a copy of the stamps in rows of bytes, which are a view of a changing buffer."""
    return places.copy().view(STAMP).ravel()

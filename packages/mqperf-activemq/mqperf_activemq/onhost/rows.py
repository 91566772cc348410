"""Messages of a thread as rows of bytes, each row with all frames of a message."""

from collections.abc import Sequence

import numpy as np

from mqperf_numbered.onhost import stamps
from mqperf_numbered.onhost.messages import DIGITS, digits
from mqperf_numbered.onhost.publisher_thread import BLOCK_BYTES
from mqperf_numbered.onhost.record import Numbers


class Rows:
    """Copies of one message, ready to be sent except for the fields that differ between messages.

    These are the stamp at ``stamp_at``, the number in digits (type None) or as an integer of a type
    at each of ``numbers_at``, and the name of the connection at each of ``names_at``.
    """

    def __init__(
        self,
        message: bytes,
        stamp_at: int,
        threads: int,
        numbers_at: Sequence[tuple[int, str | None]] = (),
        names_at: Sequence[int] = (),
    ) -> None:
        self.unit, self.names_at = len(message), names_at
        self.rows, self.stamps = stamps.block(message, stamp_at, BLOCK_BYTES, threads)
        self.digits = [self.rows[:, at : at + DIGITS] for at, kind in numbers_at if kind is None]
        self.integers = [
            np.ndarray(len(self.rows), np.dtype(kind), self.rows.data, at, (self.unit,))
            for at, kind in numbers_at
            if kind is not None
        ]

    def called(self, name: bytes) -> None:
        """Write the name of the connection into all rows; names have the same length."""
        for at in self.names_at:
            self.rows[:, at : at + len(name)] = np.frombuffer(name, np.uint8)

    def content(self, numbers: Numbers) -> bytes:
        """Return the rows of the messages with these numbers."""
        count = len(numbers)
        for place in self.digits:
            place[:count] = digits(numbers)
        for integers in self.integers:
            integers[:count] = numbers
        return self.rows[:count].tobytes()

    def handed_over(self, count: int, taken: int) -> int:
        """Return how many of ``count`` messages were taken whole, given the bytes taken."""
        return min(taken // self.unit, count)

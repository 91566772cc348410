"""Messages of a thread in rows of bytes, each with all that is sent for it."""

from collections.abc import Sequence

import numpy as np

from mqperf_numbered.onhost import stamps
from mqperf_numbered.onhost.messages import DIGITS, digits
from mqperf_numbered.onhost.publisher_thread import BLOCK_BYTES
from mqperf_numbered.onhost.record import Numbers


class Rows:
    """One message again and again, ready to be sent but for what changes from one to the next.

    Each has its stamp from ``stamp_at`` on, its number in digits or as an integer of a type
    where ``numbers_at`` says so, and from each of ``names_at`` on the name of the connection.
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
        """Be sent by the connection of that name; all names have one length."""
        for at in self.names_at:
            self.rows[:, at : at + len(name)] = np.frombuffer(name, np.uint8)

    def content(self, numbers: Numbers) -> bytes:
        """The rows of these messages."""
        count = len(numbers)
        for place in self.digits:
            place[:count] = digits(numbers)
        for integers in self.integers:
            integers[:count] = numbers
        return self.rows[:count].tobytes()

    def handed_over(self, count: int, taken: int) -> int:
        """As many as have all their bytes taken."""
        return min(taken // self.unit, count)

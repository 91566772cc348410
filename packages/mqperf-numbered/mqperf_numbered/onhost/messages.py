"""Prepared messages of a thread, complete but for their stamps: of one form, or a mix."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mqperf_numbered.onhost import stamps
from mqperf_numbered.onhost.record import Numbers

GOLDEN, ROOT = 0x9E3779B97F4A7C15, 0x6A09E667F3BCC909
"""The fractional parts of the golden ratio and of the square root of 2, in 64 bits."""

DIGITS = 12
"""Digits of a message's number written as text."""

POWERS = 10 ** np.arange(DIGITS - 1, -1, -1)


class Alike:
    """Messages of one form; ``stamps`` is a view of the buffer that is sent."""

    def __init__(self, message: bytes, stamp_at: int, most_bytes: int, threads: int) -> None:
        rows, self.stamps = stamps.block(message, stamp_at, most_bytes, threads)
        self.length, self.bytes = len(message), rows.data.cast("B")

    def content(self, span: slice) -> memoryview:
        """Return the messages of that slice of the stamps, concatenated."""
        return self.bytes[span.start * self.length : span.stop * self.length]

    def handed_over(self, taken: int) -> int:
        """Return how many whole messages are in the first ``taken`` bytes; at least."""
        return taken // self.length


class Mix:
    """Messages of several forms, each with a share of all; the stamp is at the same offset."""

    def __init__(
        self, messages: Sequence[bytes], shares: Sequence[float], stamp_at: int, count: int
    ) -> None:
        self.messages, self.shares, self.stamp_at = messages, shares, stamp_at
        self.lengths = np.array([len(message) for message in messages])
        self.stamps = np.zeros(count, stamps.STAMP)
        self.ends = np.zeros(0, dtype=np.int64)

    def content(self, span: slice) -> memoryview:
        """Return the messages of that slice of the stamps, concatenated."""
        block = self.stamps[span]
        forms = drawn(block["number"], int(block["sender"][0]), self.shares)
        content = bytearray().join([self.messages[form] for form in forms])
        self.ends = np.cumsum(self.lengths[forms])
        at = (self.ends - self.lengths[forms] + self.stamp_at)[:, None] + np.arange(stamps.SIZE)
        np.frombuffer(content, np.uint8)[at] = block.view(np.uint8).reshape(at.shape)
        return memoryview(content)

    def handed_over(self, taken: int) -> int:
        """Return how many whole messages are in the first ``taken`` bytes."""
        return int(np.searchsorted(self.ends, taken, side="right"))


def digits(numbers: Numbers) -> NDArray[np.int64]:
    """Return the digits of each number as a row of character codes."""
    codes: NDArray[np.int64] = numbers[:, None] // POWERS % 10 + ord("0")
    return codes


def drawn(numbers: Numbers, sender: Numbers | int, shares: Sequence[float]) -> NDArray[np.intp]:
    """Return the form of each message, a function of its sender and number alone.

    Multiples of the golden ratio are distributed so evenly that any part of a load has the shares:
    D. E. Knuth, The Art of Computer Programming, volume 3, section 6.4.
    """
    offsets = np.atleast_1d(sender).astype(np.uint64) * np.uint64(ROOT)
    fractions = numbers.astype(np.uint64) * np.uint64(GOLDEN) + offsets
    return np.searchsorted(np.cumsum(shares)[:-1], fractions / 2.0**64, side="right")

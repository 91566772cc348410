"""Messages of a thread that stand ready to be sent but for their stamps: all alike, or a mix."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mqperf_numbered.onhost import stamps
from mqperf_numbered.onhost.record import Numbers

GOLDEN, ROOT = 0x9E3779B97F4A7C15, 0x6A09E667F3BCC909
"""The fractions of the golden ratio, and of the root of two, in 64 bits."""

DIGITS = 12
"""Of a message's number where it is written out."""

POWERS = 10 ** np.arange(DIGITS - 1, -1, -1)


class Alike:
    """Messages of one form, with their ``stamps`` where those are sent from."""

    def __init__(self, message: bytes, stamp_at: int, most_bytes: int, threads: int) -> None:
        rows, self.stamps = stamps.block(message, stamp_at, most_bytes, threads)
        self.length, self.bytes = len(message), rows.data.cast("B")

    def content(self, span: slice) -> memoryview:
        """The messages of that part of the stamps, one behind the other."""
        return self.bytes[span.start * self.length : span.stop * self.length]

    def handed_over(self, taken: int) -> int:
        """How many of those have all their bytes among so many; at least."""
        return taken // self.length


class Mix:
    """Messages of several forms: each has its share, and its stamp at the same place as others."""

    def __init__(
        self, messages: Sequence[bytes], shares: Sequence[float], stamp_at: int, count: int
    ) -> None:
        self.messages, self.shares, self.stamp_at = messages, shares, stamp_at
        self.lengths = np.array([len(message) for message in messages])
        self.stamps = np.zeros(count, stamps.STAMP)
        self.ends = np.zeros(0, dtype=np.int64)

    def content(self, span: slice) -> memoryview:
        """The messages of that part of the stamps, one behind the other."""
        written = self.stamps[span]
        forms = drawn(written["number"], int(written["sender"][0]), self.shares)
        content = bytearray().join([self.messages[form] for form in forms])
        self.ends = np.cumsum(self.lengths[forms])
        places = (self.ends - self.lengths[forms] + self.stamp_at)[:, None] + np.arange(stamps.SIZE)
        np.frombuffer(content, np.uint8)[places] = written.view(np.uint8).reshape(places.shape)
        return memoryview(content)

    def handed_over(self, taken: int) -> int:
        """How many of those have all their bytes among so many."""
        return int(np.searchsorted(self.ends, taken, side="right"))


def digits(numbers: Numbers) -> NDArray[np.int64]:
    """The digits of numbers, as the codes of their characters, in rows."""
    codes: NDArray[np.int64] = numbers[:, None] // POWERS % 10 + ord("0")
    return codes


def drawn(numbers: Numbers, sender: Numbers | int, shares: Sequence[float]) -> NDArray[np.intp]:
    """Which of several forms each message has, by its sender and its number alone.

    Multiples of the golden ratio are spread so evenly that any part of a load has the shares:
    D. E. Knuth, The Art of Computer Programming, volume 3, section 6.4.
    """
    of_senders = np.atleast_1d(sender).astype(np.uint64) * np.uint64(ROOT)
    places = numbers.astype(np.uint64) * np.uint64(GOLDEN) + of_senders
    return np.searchsorted(np.cumsum(shares)[:-1], places / 2.0**64, side="right")

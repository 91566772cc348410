"""Messages as they are published, in rows of bytes, and the subjects to which each is confirmed."""

import os

import numpy as np

from mqperf_nats.onhost.codec import END, fresh_inbox
from mqperf_nats.onhost.orders import Orders
from mqperf_numbered.onhost import stamps
from mqperf_numbered.onhost.messages import DIGITS, digits
from mqperf_numbered.onhost.publisher_thread import BLOCK_BYTES
from mqperf_numbered.onhost.record import Numbers


class Rows:
    """Messages of a thread, each with all that is sent for it."""

    def __init__(self, orders: Orders, subject: str) -> None:
        """Have no inbox yet."""
        inbox = fresh_inbox()
        reply = f"{inbox}.{'0' * DIGITS} " if orders.confirms else ""
        head = f"PUB {subject} {reply}{orders.payload_bytes}\r\n".encode()
        message = head + os.urandom(orders.payload_bytes) + END
        self.unit, threads = len(message), len(orders.threads)
        self.rows, self.stamps = stamps.block(message, len(head), BLOCK_BYTES, threads)
        begin = len(f"PUB {subject} ")
        self.inbox = self.rows[:, begin : begin + len(inbox)]
        at = begin + len(inbox) + 1
        self.digits = self.rows[:, at : at + DIGITS] if orders.confirms else None

    def confirmed_to(self, inbox: str) -> None:
        """Have confirms sent to this inbox."""
        if self.digits is not None:
            self.inbox[:] = np.frombuffer(inbox.encode(), np.uint8)

    def content(self, numbers: Numbers) -> bytes:
        """The rows of these messages."""
        count = len(numbers)
        if self.digits is not None:
            self.digits[:count] = digits(numbers)
        return self.rows[:count].tobytes()

    def handed_over(self, count: int, taken: int) -> int:
        """As many as have all their bytes taken."""
        return min(taken // self.unit, count)

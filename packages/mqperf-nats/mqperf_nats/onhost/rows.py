"""Published messages as rows of bytes, with the subjects to which they are confirmed."""

import os

import numpy as np

from mqperf_nats.onhost.codec import END, fresh_inbox
from mqperf_nats.onhost.orders import Orders
from mqperf_numbered.onhost import stamps
from mqperf_numbered.onhost.messages import DIGITS, digits
from mqperf_numbered.onhost.publisher_thread import BLOCK_BYTES
from mqperf_numbered.onhost.record import Numbers


class Rows:
    """Messages of a thread, each a row of all bytes that are sent for it."""

    def __init__(self, orders: Orders, subject: str) -> None:
        """Prepare a block of messages, with an inbox that is replaced later."""
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
        """Set the inbox of confirms."""
        if self.digits is not None:
            self.inbox[:] = np.frombuffer(inbox.encode(), np.uint8)

    def content(self, numbers: Numbers) -> bytes:
        """Return the rows of these messages."""
        count = len(numbers)
        if self.digits is not None:
            self.digits[:count] = digits(numbers)
        return self.rows[:count].tobytes()

    def handed_over(self, count: int, taken: int) -> int:
        """Return how many of ``count`` messages are whole in the first ``taken`` bytes."""
        return min(taken // self.unit, count)

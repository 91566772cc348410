"""Messages in frames; the messages of a frame are published together or not at all."""

import os

import numpy as np

from mqperf_numbered.onhost import stamps
from mqperf_numbered.onhost.publisher_thread import BLOCK_BYTES
from mqperf_numbered.onhost.record import Numbers
from mqperf_streams.onhost import codec
from mqperf_streams.onhost.orders import Orders
from mqperf_streams.onhost.routes import Routes

STAMP_AT = codec.MESSAGE.size + codec.BODY_AT


class Frames:
    """Messages of a thread; their numbers are publishing ids, by which the broker confirms."""

    def __init__(self, orders: Orders, routes: Routes) -> None:
        self.routes = routes
        body = codec.SECTION + codec.opaque(os.urandom(orders.payload_bytes))
        message = codec.MESSAGE.pack(0, len(body)) + body
        threads, self.unit = len(orders.threads), len(message)
        self.rows, self.stamps = stamps.block(message, STAMP_AT, BLOCK_BYTES, threads)
        self.ids = np.ndarray(len(self.rows), ">u8", self.rows.data, 0, (self.unit,))

    def content(self, numbers: Numbers) -> bytes:
        """Encode a frame of these messages of one partition, whose number is the publisher's."""
        count, (publisher, _) = len(numbers), self.routes.run(int(numbers[0]))
        self.ids[:count] = numbers
        content = self.rows[:count].tobytes()
        size = codec.PUBLISHED.size - codec.SIZE.size + len(content)
        return codec.PUBLISHED.pack(size, codec.PUBLISH, 1, publisher, count) + content

    def handed_over(self, count: int, taken: int) -> int:
        """Return all messages of a frame, or none."""
        return count if taken >= codec.PUBLISHED.size + count * self.unit else 0

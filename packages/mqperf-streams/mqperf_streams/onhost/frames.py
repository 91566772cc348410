"""Messages in frames, of which each has a partition, and is handed over whole or not at all."""

import os

import numpy as np

from mqperf_numbered.onhost import stamps
from mqperf_numbered.onhost.publisher_thread import BLOCK_BYTES
from mqperf_numbered.onhost.record import Numbers
from mqperf_streams.onhost import codec
from mqperf_streams.onhost.orders import Orders
from mqperf_streams.onhost.routes import Routes

STAMP_AT = codec.MESSAGE.size + len(codec.SECTION) + 4


class Frames:
    """Messages of a thread; their numbers are the publishing ids by which the broker confirms."""

    def __init__(self, orders: Orders, routes: Routes) -> None:
        self.routes, self.first = routes, 0
        body = codec.SECTION + codec.opaque(os.urandom(orders.payload_bytes))
        message = codec.MESSAGE.pack(0, len(body)) + body
        threads, self.unit = len(orders.threads), len(message)
        self.rows, self.stamps = stamps.block(message, STAMP_AT, BLOCK_BYTES, threads)
        self.ids = np.ndarray(len(self.rows), ">u8", self.rows.data, 0, (self.unit,))

    def content(self, numbers: Numbers) -> bytes:
        """A frame of these messages, or one for each run of a partition."""
        count, self.first = len(numbers), int(numbers[0])
        self.ids[:count] = numbers
        runs = self.routes.runs(self.first, count)
        return b"".join(self._frame(partition, self.rows[run]) for partition, run in runs)

    def _frame(self, publisher: int, rows: stamps.Bytes) -> bytes:
        size = codec.PUBLISHED.size - codec.SIZE.size + rows.nbytes
        return codec.PUBLISHED.pack(size, codec.PUBLISH, 1, publisher, len(rows)) + rows.tobytes()

    def whole(self, count: int, taken: int) -> int:
        """All messages of a frame, or none."""
        whole = 0
        for _, run in self.routes.runs(self.first, count):
            taken -= codec.PUBLISHED.size + (run.stop - whole) * self.unit
            if taken < 0:
                break
            whole = run.stop
        return whole

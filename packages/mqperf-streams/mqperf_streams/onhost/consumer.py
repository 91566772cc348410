"""A server: consumes the streams of its threads, chunk by chunk, and accounts for every message."""

import struct
from collections.abc import Iterator
from functools import partial

import numpy as np

from mqperf_numbered.onhost import stamps
from mqperf_numbered.onhost.consumer import Consumer
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.managed_connections import Handlers, Lost, ManagedConnection
from mqperf_numbered.onhost.orders import Thread
from mqperf_numbered.onhost.schedule import NS
from mqperf_numbered.onhost.waiting import Waiting
from mqperf_streams.onhost import codec
from mqperf_streams.onhost.connection import Connection
from mqperf_streams.onhost.orders import Orders

BEGINNINGS = {"first": 1, "last": 2, "next": 3}
AT = 4
"""How a subscription says where it begins: by a word, or by the number of a message."""

HEADER = codec.SIZE.size + len(codec.SECTION) + 4
"""Before a body in a chunk: the length of the entry, and the beginning of its data section."""

BATCH = 1 << 31
"""The bit of an entry's length that says that it is a batch of messages."""


class Inlet(ManagedConnection[Connection]):
    """The connection of a stream; ``next`` is the message that it continues with, if any came."""

    def __init__(
        self,
        orders: Orders,
        thread: Thread,
        server: Consumer,
        waiting: Waiting,
        diary: Diary,
    ) -> None:
        self.orders, self.stream, self.server = orders, thread.address, server
        self.next: int | None = None
        connect = partial(Connection, orders.broker)
        handlers = Handlers(connect, self._prepare, self._read, consume=self.consume)
        super().__init__(waiting, diary, handlers)

    def _prepare(self, connection: Connection) -> None:
        """Make the stream unless it is there, and subscribe if it is time."""
        self.on = connection
        if self.server.consuming:
            connection.prepared(self.stream, codec.SUBSCRIBE, self._wanted())
        elif connection.call(codec.CREATE, codec.string(self.stream) + codec.pairs({})) not in {
            codec.OK,
            codec.EXISTS,
        }:
            raise Lost(f"the broker makes no stream {self.stream}")

    def consume(self) -> None:
        """Subscribe; messages may come before the answer, which nobody waits for."""
        self.on.send(codec.request(codec.SUBSCRIBE, self._wanted()))
        self.watch()

    def _wanted(self) -> bytes:
        if self.next is None:
            begin = struct.pack(">H", BEGINNINGS[self.orders.offset])
        else:
            begin = struct.pack(">HQ", AT, self.next)
        credit = struct.pack(">H", self.orders.chunk_credit)
        return bytes([0]) + codec.string(self.stream) + begin + credit + codec.pairs({})

    def _read(self, connection: Connection) -> None:
        at, chunks = 0, 0
        while (frame := connection.frame(at)) is not None:
            key, payload, end = frame
            if key == codec.DELIVER:
                chunks += 1
                self._take(payload, int(connection.arrived_ns(np.array([end]))[0]) / NS)
            else:
                connection.attend(key, payload)
            at = end
        connection.consumed(at)
        if chunks:
            connection.send(codec.frame(codec.CREDIT, struct.pack(">BH", 0, chunks)))
            self.watch()

    def _take(self, payload: bytes, now: float) -> None:
        """Count the messages of a chunk, from the one on that is wanted."""
        chunk = codec.CHUNK.unpack_from(payload)
        entries, first, length = chunk[3], chunk[7], chunk[9]
        skipped = max(0, (self.next or 0) - first)
        data = payload[codec.CHUNK.size : codec.CHUNK.size + length]
        stamp = stamps_of(data, entries)[skipped:]
        if len(stamp):
            self.server.arrivals.take(stamp, stamp["sender"].astype(np.int64), now)
        self.next = max(self.next or 0, first + entries)


def stamps_of(data: bytes, entries: int) -> stamps.Stamps:
    """The stamps of the messages of a chunk; one of no run for a message that has none.

    Messages of one load have one length: then they are rows of an array.
    """
    (size,) = codec.SIZE.unpack_from(data) if entries else (0,)
    unit = codec.SIZE.size + size
    if size >= HEADER - codec.SIZE.size + stamps.SIZE and entries * unit == len(data):
        rows = np.frombuffer(data, np.uint8).reshape(entries, unit)
        alike = rows[:, :HEADER] == rows[0, :HEADER]
        section = slice(codec.SIZE.size, codec.SIZE.size + len(codec.SECTION))
        if alike.all() and rows[0, section].tobytes() == codec.SECTION:
            return stamps.read(rows[:, HEADER : HEADER + stamps.SIZE])
    return np.frombuffer(b"".join(_bodies(data, entries)), stamps.STAMP)


def _bodies(data: bytes, entries: int) -> Iterator[bytes]:
    """The first bytes of each body, as many as a stamp has."""
    at = 0
    for _ in range(entries):
        (size,) = codec.SIZE.unpack_from(data, at)
        if size & BATCH:
            raise Lost("a chunk has messages in batches, which nobody of this load publishes")
        entry = data[at + codec.SIZE.size : at + codec.SIZE.size + size]
        known = entry.startswith(codec.SECTION) and size >= HEADER - codec.SIZE.size + stamps.SIZE
        begin = HEADER - codec.SIZE.size
        yield entry[begin : begin + stamps.SIZE] if known else bytes(stamps.SIZE)
        at += codec.SIZE.size + size

"""A server: consumes the streams of its threads, chunk by chunk, and records every message."""

import struct
from collections import Counter
from collections.abc import Iterator
from functools import partial

import numpy as np

from mqperf_numbered.onhost import stamps
from mqperf_numbered.onhost.broker import Lost, Refused
from mqperf_numbered.onhost.consumer import Consumer
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.managed_connections import ManagedConnection
from mqperf_numbered.onhost.orders import Thread
from mqperf_numbered.onhost.schedule import NS
from mqperf_numbered.onhost.waiting import Waiting
from mqperf_streams.onhost import codec
from mqperf_streams.onhost.connection import Connection
from mqperf_streams.onhost.orders import Orders

BEGINNINGS = {"first": 1, "last": 2, "next": 3}
AT = 4
"""Types of offsets of a subscription: symbolic ones, and ``AT`` for the number of a message."""

HEADER = codec.SIZE.size + codec.BODY_AT
"""Bytes before a body in a chunk: the length of the entry, and the head of its data section."""

STAMPED = codec.BODY_AT + stamps.SIZE
"""The least length of an entry that has a stamp."""

BATCH = 1 << 31
"""The bit of an entry's length that marks it as a batch of messages."""


class Inlet(ManagedConnection[Connection]):
    """The connection of a stream, or of all partitions of a super stream.

    ``next`` is the number of the next message in each partition; None before the first one.
    """

    def __init__(
        self,
        orders: Orders,
        thread: Thread,
        server: Consumer,
        waiting: Waiting,
        diary: Diary,
    ) -> None:
        self.orders, self.stream, self.server = orders, thread.address, server
        self.next: list[int | None] = [None] * orders.partitions
        super().__init__(waiting, diary, partial(Connection, orders.broker))

    def prepare(self, connection: Connection) -> None:
        """Create the stream if it is missing, and subscribe if it is time.

        Subscriptions get credit when all are made, so that no messages come before.
        """
        self.on, self.streams = connection, connection.streams(self.stream, self.orders.partitions)
        if not self.server.consuming:
            return
        for number, stream in enumerate(self.streams):
            connection.prepared(stream, codec.SUBSCRIBE, self._subscription(number, 0))
        for number in range(len(self.streams)):
            connection.send(_credit(number, self.orders.chunk_credit))

    def consume(self) -> None:
        """Subscribe without waiting for answers, as messages may come before these."""
        for number in range(len(self.streams)):
            subscription = self._subscription(number, self.orders.chunk_credit)
            self.on.send(codec.request(codec.SUBSCRIBE, subscription))
        self.watch()

    def _subscription(self, number: int, credit: int) -> bytes:
        """Encode the subscription of a partition, with credit for so many chunks."""
        if (first := self.next[number]) is None:
            offset = struct.pack(">H", BEGINNINGS[self.orders.offset])
        else:
            offset = struct.pack(">HQ", AT, first)
        stream = codec.string(self.streams[number])
        return bytes([number]) + stream + offset + struct.pack(">H", credit) + codec.pairs({})

    def read(self, connection: Connection) -> None:
        """Record the messages of all chunks together, as there may be many small ones.

        Messages before the frame that ends the connection count, as they are not sent again.
        """
        at, chunks, chunk_stamps, ends = 0, Counter[int](), [], []
        ended: Lost | Refused | None = None
        while (frame := connection.frame(at)) is not None:
            key, payload, at = frame
            if key == codec.DELIVER:
                chunks[payload[0]] += 1
                chunk_stamps.append(self._new_stamps(payload))
                ends.append(at)
            else:
                try:
                    connection.attend(key, payload)
                except (Lost, Refused) as error:
                    ended = error
                    break
        if chunk_stamps:
            now = connection.arrived_ns(np.array(ends)) / NS
            stamp = np.concatenate(chunk_stamps)
            sender = stamp["sender"].astype(np.int64)
            self.server.arrivals.take(stamp, sender, np.repeat(now, [*map(len, chunk_stamps)]))
        connection.consumed(at)
        if ended is not None:
            raise ended
        for number, count in chunks.items():
            connection.send(_credit(number, count))
        self.watch()

    def _new_stamps(self, payload: bytes) -> stamps.Stamps:
        """Return the stamps of a chunk's messages, without those before the next one to consume."""
        chunk = codec.CHUNK.unpack_from(payload)
        number, entries, first, length = chunk[0], chunk[3], chunk[7], chunk[9]
        next_number = self.next[number] or 0
        self.next[number] = max(next_number, first + entries)
        data = payload[codec.CHUNK.size : codec.CHUNK.size + length]
        return stamps_of(data, entries)[max(0, next_number - first) :]


def _credit(number: int, chunks: int) -> bytes:
    return codec.frame(codec.CREDIT, struct.pack(">BH", number, chunks))


def stamps_of(data: bytes, entries: int) -> stamps.Stamps:
    """Return the stamps of a chunk's messages; all zero, for no run, for those without a stamp.

    Messages of a load have one length, so they are usually rows of an array.
    """
    (size,) = codec.SIZE.unpack_from(data) if entries else (0,)
    unit = codec.SIZE.size + size
    of_one_length = size >= STAMPED and entries * unit == len(data)
    if of_one_length and data.startswith(codec.SECTION, codec.SIZE.size):
        rows = np.frombuffer(data, np.uint8).reshape(entries, unit)
        if (rows[:, :HEADER] == rows[0, :HEADER]).all():
            return stamps.read(rows[:, HEADER : HEADER + stamps.SIZE])
    return np.frombuffer(b"".join(_bodies(data, entries)), stamps.STAMP)


def _bodies(data: bytes, entries: int) -> Iterator[bytes]:
    """Yield the stamp of each message as bytes."""
    at = 0
    for _ in range(entries):
        (size,) = codec.SIZE.unpack_from(data, at)
        if size & BATCH:
            raise Lost("a chunk has messages in batches, which nobody of this load publishes")
        entry = data[at + codec.SIZE.size : at + codec.SIZE.size + size]
        stamped = entry.startswith(codec.SECTION) and size >= STAMPED
        yield entry[codec.BODY_AT : STAMPED] if stamped else bytes(stamps.SIZE)
        at += codec.SIZE.size + size

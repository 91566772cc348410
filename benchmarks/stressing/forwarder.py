"""A peer that speaks enough AMQP 0-9-1 to hand every message on at once: no queue, no broker.

Run as ``python -m stressing.forwarder FILE``; it writes its port into the file, and ends with its
last connection.  What publisher and consumer then measure is their own time, and its.
"""

import socket
import struct
import sys
import threading
from pathlib import Path

import numpy as np

from mqperf_amqp_0_9_1.onhost import codec
from mqperf_amqp_0_9_1.onhost.codec import Method

ANSWERS: dict[Method, tuple[Method, bytes]] = {
    codec.START_OK: (codec.TUNE, struct.pack(">HIH", 0, 131_072, 0)),
    codec.OPEN: (codec.OPEN_OK, b"\0"),
    codec.CHANNEL_OPEN: (codec.CHANNEL_OPEN_OK, codec.long(b"")),
    codec.EXCHANGE_DECLARE: (codec.EXCHANGE_DECLARE_OK, b""),
    codec.QUEUE_DECLARE: (codec.QUEUE_DECLARE_OK, codec.short("q") + bytes(8)),
    codec.QUEUE_BIND: (codec.QUEUE_BIND_OK, b""),
    codec.CONSUME: (codec.CONSUME_OK, codec.short("c")),
    codec.CLOSE: (codec.CLOSE_OK, b""),
}
BEGIN = b"\x00\x09" + codec.table({}) + codec.long(b"PLAIN") + codec.long(b"en_US")
DELIVERY = codec.short("c") + bytes(9) + codec.short("e") + codec.short("k")
HEAD = np.frombuffer(codec.method(1, codec.DELIVER, DELIVERY), np.uint8)
TAG_AT = codec.FRAME.size + 4 + 2
ROOM = 1 << 20
"""Bytes that a connection may have sent and not yet been answered."""


class Peer:
    """One connection."""

    def __init__(self, connection: socket.socket, consumers: list[socket.socket]) -> None:
        self.socket, self.consumers = connection, consumers
        self.bytes, self.used = bytearray(ROOM), 0
        self.deliveries: Deliveries | None = None

    def serve(self) -> None:
        """Answer, and hand on, until it is closed."""
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.recv(len(codec.HEADER))
        self.socket.sendall(codec.method(0, codec.START, BEGIN))
        room = memoryview(self.bytes)
        while came := self.socket.recv_into(room[self.used :]):
            self.used += came
            done = self._understood()
            self.bytes[: self.used - done] = self.bytes[done : self.used]
            self.used -= done

    def _understood(self) -> int:
        """Answer every method, and hand on all whole messages; gives their bytes."""
        done = 0
        while self.used - done >= codec.FRAME.size:
            kind, channel, size = codec.FRAME.unpack_from(self.bytes, done)
            end = done + size + codec.OVERHEAD
            if self.used < end:
                break
            if kind == codec.METHOD:
                which = codec.which(bytes(self.bytes[done + codec.FRAME.size : end]))
                if which == codec.PUBLISH:
                    return done + self._handed_on(done, end - done)
                self._answer(channel, which)
            done = end
        return done

    def _answer(self, channel: int, which: Method) -> None:
        if which == codec.CONSUME:
            self.consumers.append(self.socket)
        if which in ANSWERS:
            self.socket.sendall(codec.method(channel, *ANSWERS[which]))

    def _handed_on(self, begin: int, method: int) -> int:
        """The bytes of messages that were handed on; ``method`` is the length of its frame."""
        if self.deliveries is None and (length := self._length(begin + method)):
            self.deliveries = Deliveries(method, method + length)
        if self.deliveries is None:
            return 0
        rows, taken = self.deliveries.of(memoryview(self.bytes)[begin : self.used])
        self.consumers[0].sendall(rows)
        return taken

    def _length(self, begin: int) -> int:
        """Bytes of a message's header and single body frame, as far as they have come; else 0."""
        end = begin
        for _ in range(2):
            if self.used < end + codec.FRAME.size:
                return 0
            end += codec.FRAME.unpack_from(self.bytes, end)[2] + codec.OVERHEAD
        return end - begin


class Deliveries:
    """Messages of one length, of which the first so many bytes are a method, as deliveries."""

    def __init__(self, method: int, length: int) -> None:
        self.method, self.length = method, length
        self.rows = np.empty((ROOM // length, len(HEAD) + length - method), np.uint8)
        self.rows[:, : len(HEAD)] = HEAD
        self.tag = 1

    def of(self, came: memoryview) -> tuple[memoryview, int]:
        """All whole messages, and the bytes that they were."""
        count = len(came) // self.length
        taken = count * self.length
        sent = np.frombuffer(came[:taken], np.uint8).reshape(count, self.length)
        rows = self.rows[:count]
        rows[:, len(HEAD) :] = sent[:, self.method :]
        tags = np.arange(self.tag, self.tag + count, dtype=">i8")
        rows[:, TAG_AT : TAG_AT + 8] = tags.view(np.uint8).reshape(count, 8)
        self.tag += count
        return rows.reshape(-1).data, taken


def main() -> None:
    """Serve a consumer, and then a publisher."""
    consumers: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        draft = Path(f"{sys.argv[1]}-draft")
        draft.write_text(str(server.getsockname()[1]))
        draft.replace(sys.argv[1])
        threads = []
        for _ in range(2):
            peer = Peer(server.accept()[0], consumers)
            threads.append(threading.Thread(target=peer.serve))
            threads[-1].start()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    main()

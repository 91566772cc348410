"""A peer with enough of AMQP 0-9-1 to forward every message at once: no queue, no broker.

Run as ``python -m stressing.forwarder FILE``; it writes its port into the file, and ends with its
last connection.  Publisher and consumer then measure their own time, and that of the forwarder.
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
"""Size of a connection's read buffer, in bytes."""


class Peer:
    """One connection of a publisher or a consumer."""

    def __init__(self, connection: socket.socket, consumers: list[socket.socket]) -> None:
        self.socket, self.consumers = connection, consumers
        self.bytes, self.used = bytearray(ROOM), 0
        self.deliveries: Deliveries | None = None

    def serve(self) -> None:
        """Answer methods, and forward messages, until the connection is closed."""
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.recv(len(codec.HEADER))
        self.socket.sendall(codec.method(0, codec.START, BEGIN))
        room = memoryview(self.bytes)
        while received := self.socket.recv_into(room[self.used :]):
            self.used += received
            done = self._handle()
            self.bytes[: self.used - done] = self.bytes[done : self.used]
            self.used -= done

    def _handle(self) -> int:
        """Answer all methods, and forward all complete messages; return the handled bytes."""
        done = 0
        while self.used - done >= codec.FRAME.size:
            kind, channel, size = codec.FRAME.unpack_from(self.bytes, done)
            end = done + size + codec.OVERHEAD
            if self.used < end:
                break
            if kind == codec.METHOD:
                method = codec.which(bytes(self.bytes[done + codec.FRAME.size : end]))
                if method == codec.PUBLISH:
                    return done + self._forward(done, end - done)
                self._answer(channel, method)
            done = end
        return done

    def _answer(self, channel: int, method: Method) -> None:
        if method == codec.CONSUME:
            self.consumers.append(self.socket)
        if method in ANSWERS:
            self.socket.sendall(codec.method(channel, *ANSWERS[method]))

    def _forward(self, begin: int, method_bytes: int) -> int:
        """Forward all complete messages; return their bytes.  Each begins with a publish method."""
        if self.deliveries is None and (length := self._length(begin + method_bytes)):
            self.deliveries = Deliveries(method_bytes, method_bytes + length)
        if self.deliveries is None:
            return 0
        rows, taken = self.deliveries.of(memoryview(self.bytes)[begin : self.used])
        self.consumers[0].sendall(rows)
        return taken

    def _length(self, begin: int) -> int:
        """Return the bytes of a message's header and single body frame; 0 before both are known."""
        end = begin
        for _ in range(2):
            if self.used < end + codec.FRAME.size:
                return 0
            end += codec.FRAME.unpack_from(self.bytes, end)[2] + codec.OVERHEAD
        return end - begin


class Deliveries:
    """Converter of published messages of one length, with a publish method first, to deliveries."""

    def __init__(self, method: int, length: int) -> None:
        self.method, self.length = method, length
        self.rows = np.empty((ROOM // length, len(HEAD) + length - method), np.uint8)
        self.rows[:, : len(HEAD)] = HEAD
        self.tag = 1

    def of(self, received: memoryview) -> tuple[memoryview, int]:
        """Return the deliveries of all complete messages, and the bytes of these messages."""
        count = len(received) // self.length
        taken = count * self.length
        sent = np.frombuffer(received[:taken], np.uint8).reshape(count, self.length)
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

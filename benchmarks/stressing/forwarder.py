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

from mqperf.load.amqp_0_9_1.inside import codec
from mqperf.load.amqp_0_9_1.inside.codec import Method

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
TAG_AT = codec.FRAME.size + 4 + 2


class Peer:
    """One connection."""

    def __init__(self, own: socket.socket, consumers: list[socket.socket]) -> None:
        self.socket, self.consumers = own, consumers
        self.have = bytearray()
        self.tag = 1

    def serve(self) -> None:
        """Answer, and hand on, until it is closed."""
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.recv(len(codec.HEADER))
        self.socket.sendall(codec.method(0, codec.START, BEGIN))
        while came := self.socket.recv(1 << 20):
            self.have += came
            self._understand()

    def _understand(self) -> None:
        while len(self.have) >= codec.FRAME.size:
            kind, channel, size = codec.FRAME.unpack_from(self.have)
            end = size + codec.OVERHEAD
            if len(self.have) < end:
                return
            if kind == codec.METHOD:
                which = codec.which(bytes(self.have[codec.FRAME.size : end]))
                if which == codec.PUBLISH:
                    if not self._hand_on(end):
                        return
                    continue
                self._answer(channel, which)
            del self.have[:end]

    def _answer(self, channel: int, which: Method) -> None:
        if which == codec.CONSUME:
            self.consumers.append(self.socket)
        if which in ANSWERS:
            self.socket.sendall(codec.method(channel, *ANSWERS[which]))

    def _hand_on(self, method: int) -> int:
        """All whole messages, which are of one length, as deliveries; ``method`` is its frame's."""
        length = self._length(method)
        if not (count := len(self.have) // length if length else 0):
            return 0
        own = np.frombuffer(bytes(self.have[: count * length]), np.uint8).reshape(count, length)
        begin = np.frombuffer(codec.method(1, codec.DELIVER, DELIVERY), np.uint8)
        rows = np.concatenate([np.tile(begin, (count, 1)), own[:, method:]], axis=1)
        tags = np.arange(self.tag, self.tag + count, dtype=">i8")
        rows[:, TAG_AT : TAG_AT + 8] = tags.view(np.uint8).reshape(count, 8)
        self.tag += count
        self.consumers[0].sendall(rows.tobytes())
        del self.have[: count * length]
        return count

    def _length(self, method: int) -> int:
        """Bytes of a message of one body frame, as far as its frames have come; else 0."""
        end = method
        for _ in range(2):
            if len(self.have) < end + codec.FRAME.size:
                return 0
            end += codec.FRAME.unpack_from(self.have, end)[2] + codec.OVERHEAD
        return end


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

"""An AMQP 1.0 connection without its handshake."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from mqperf_amqp_1_0.onhost.codec import uint
from mqperf_amqp_1_0.onhost.connection import Connection
from mqperf_numbered.onhost.outbox import Outbox


class Bare(Connection):
    """A connection over a given socket, which has already read the content."""

    def __init__(self, ours: socket.socket, content: bytes = b"") -> None:
        Outbox.__init__(self)
        self.socket, self.address, self.closes_at = ours, "here", None
        self.empty(len(content) or 1 << 12)
        self.buffer[: len(content)], self.have = content, len(content)
        self.incoming = self.outgoing = self.window = 0


@contextmanager
def connected(content: bytes = b"") -> Iterator[tuple[Bare, socket.socket]]:
    """A bare connection and the socket at its other end."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Bare(ours, content), theirs


def small(value: int) -> bytes:
    """A number in its shortest encoding, as most libraries write it."""
    return b"\x43" if value == 0 else b"\x52" + bytes([value]) if value < 256 else uint(value)

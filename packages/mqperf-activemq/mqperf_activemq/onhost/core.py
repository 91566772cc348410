"""Codec of Artemis' core protocol: packets, each of a kind and on a channel.

Source: the packets of artemis-core-client, https://github.com/apache/artemis.
"""

import os
import struct
from typing import NoReturn

import numpy as np

from mqperf_activemq.onhost.framed import Framed, Run
from mqperf_activemq.onhost.orders import Orders
from mqperf_activemq.onhost.rows import Rows
from mqperf_activemq.onhost.wire import Outcomes
from mqperf_numbered.onhost.broker import Refused
from mqperf_numbered.onhost.record import Numbers
from mqperf_numbered.onhost.stamps import within

GREETING = b"ARTEMIS"
VERSION = 130
"""The version of Artemis 2.7, the first whose responses identify their message."""

PING, DISCONNECT, EXCEPTION, DONE = 10, 11, 20, 21
CREATE_SESSION, SESSION_CREATED, CREATE_CONSUMER, ACKNOWLEDGE = 30, 31, 40, 41
START, CLOSE, CREDIT, SEND, MESSAGE, ACKNOWLEDGE_ONE = 67, 69, 70, 71, 75, 81
DISCONNECT_2, CREATE_QUEUE, CONSUMER_CREATED, DISCONNECT_3 = 124, -12, -14, -19
"""Kinds of packets."""

EVERY, FIRST, OURS = 0, 1, 10
"""Channels: for pings, for creating sessions, and for our session."""

HEAD = struct.Struct(">ibq")
"""Head of a packet: number of bytes that follow, kind and channel."""

BODY_AT = HEAD.size + 4
"""Offset of a message's body; the four bytes before it are its end, counted with ``HEAD``."""

QUEUE_EXISTS = 101
ANYCAST, BYTES_TYPE, PRIORITY = 1, 4, 4
TTL_MS = 60_000
LONGEST = 0x7FFF_FFFF

ACKNOWLEDGEMENT = np.dtype(
    [
        ("bytes", ">i4"),
        ("kind", "i1"),
        ("channel", ">i8"),
        ("consumer", ">i8"),
        ("message", ">i8"),
        ("answered", "i1"),
    ]
)


def packet(kind: int, channel: int, content: bytes = b"") -> bytes:
    """Encode a packet."""
    return HEAD.pack(HEAD.size - 4 + len(content), kind, channel) + content


def simple(name: str) -> bytes:
    """Encode a SimpleString, such as the name of a queue."""
    content = name.encode("utf-16-le")
    return struct.pack(">i", len(content)) + content


def text(words: str) -> bytes:
    """Encode any other string; short ones have two bytes for each character."""
    size = struct.pack(">i", len(words))
    if len(words) < 9:
        return size + words.encode("utf-16-be")
    content = words.encode()
    return size + struct.pack(">H", len(content)) + content


def maybe(words: str) -> bytes:
    """Encode a nullable string; empty text is null."""
    return b"\1" + text(words) if words else b"\0"


def read(content: bytes) -> str:
    """Decode the nullable string at the beginning of these bytes; null as empty text."""
    if not content or not content[0]:
        return ""
    [length] = struct.unpack_from(">i", content, 1)
    if length < 9:
        return content[5 : 5 + 2 * length].decode("utf-16-be", errors="replace")
    [size] = struct.unpack_from(">H", content, 5)
    return content[7 : 7 + size].decode(errors="replace")


def message(body: bytes, address: str, *, persistent: bool) -> bytes:
    """Encode a message without properties."""
    size = struct.pack(">i", HEAD.size + len(body))
    head = struct.pack(">qb", 0, 1) + simple(address) + b"\0"
    kind = struct.pack(">b?qqb", BYTES_TYPE, persistent, 0, 0, PRIORITY)
    return size + body + head + kind + b"\0"


class Core(Framed):
    """A connection with the core protocol: one session, and at most one consumer."""

    message_kind = MESSAGE
    heartbeat = packet(PING, EVERY, struct.pack(">q", TTL_MS))

    @staticmethod
    def rows(orders: Orders, queue: str) -> Rows:
        """Return the messages of a thread as rows."""
        body = os.urandom(orders.payload_bytes)
        content = message(body, queue, persistent=orders.persistent)
        content += struct.pack(">?q", orders.confirms > 0, 0)
        whole = packet(SEND, OURS, content)
        return Rows(whole, BODY_AT, len(orders.threads), [(len(whole) - 8, ">i8")])

    def log_in(self) -> None:
        """Create a session; return when the broker has accepted it."""
        broker, flags = self.broker, struct.pack(">i3bib", LONGEST, 0, 1, 1, -1, 0)
        session = text(self.name) + struct.pack(">qi", OURS, VERSION)
        login = maybe(broker.user) + maybe(broker.password)
        create = packet(CREATE_SESSION, FIRST, session + login + flags + b"\0")
        self.send(GREETING + create)
        self._await(SESSION_CREATED)

    def take_leave(self) -> None:
        """Return when the broker has read all that was sent."""
        self._call(CLOSE)

    def publish(self) -> None:
        """Return when messages can be sent to the queue."""
        names = simple(self.queue) * 2 + b"\0"
        how = struct.pack(">5bib", 1, 0, 1, 1, ANYCAST, -1, 0)
        self.send(packet(CREATE_QUEUE, OURS, names + how))
        kind, content = self.answer((DONE, EXCEPTION))
        if kind == EXCEPTION and code_of(content) != QUEUE_EXISTS:
            self._refuse(content)

    def consume(self) -> None:
        """Subscribe to the queue."""
        self.publish()
        self.used_bytes = 0
        consumer = struct.pack(">q", 0) + simple(self.queue) + struct.pack(">3bi", 0, 0, 1, 0)
        self._call(CREATE_CONSUMER, consumer, CONSUMER_CREATED)
        self.send(packet(START, OURS) + self._credit(self.orders.window_bytes))

    def outcomes(self) -> Outcomes:
        """Return the confirmed and the refused messages."""
        confirmed, refused = list[Numbers](), list[tuple[int, str]]()
        for run in self.runs():
            if run.kind == DONE and run.unit >= HEAD.size + 8:
                confirmed.append(run.column(self.buffer, HEAD.size, ">i8"))
            elif run.kind == EXCEPTION:
                numbers = run.column(self.buffer, run.unit - 8, ">i8").tolist()
                refused += [(number, self._error_text(run)) for number in numbers]
            else:
                self.attend(run)
        self.forget()
        return Outcomes(np.concatenate([np.empty(0, np.int64), *confirmed]), refused)

    def attend(self, run: Run) -> None:
        """Raise ``Lost`` if these packets end the connection or report an error."""
        if run.kind in (DISCONNECT, DISCONNECT_2, DISCONNECT_3):
            raise self.lost("the broker ends the connection")
        if run.kind == EXCEPTION:
            raise self.lost(self._error_text(run))

    def messages(self, run: Run) -> tuple[Run, bytes, bytes]:
        """Return the first messages of a run, with their stamps and acknowledgements."""
        same, _ = run.split(run.alike(self.buffer, HEAD.size, 4))
        end_at = int(same.column(self.buffer, HEAD.size, ">i4")[0])
        body_at, size = run.at + BODY_AT, end_at - HEAD.size
        stamps = within(self.buffer, body_at, size, run.unit, same.rows)
        ids = same.column(self.buffer, BODY_AT + size, ">i8")
        self.used_bytes += same.rows * same.unit
        return same, stamps, self._acks(ids) + self._new_credit()

    def _acks(self, ids: Numbers) -> bytes:
        """Encode an acknowledgement of each of these messages, or one of all up to the last."""
        each = self.orders.acks == "each"
        frames = np.zeros(len(ids) if each else 1, ACKNOWLEDGEMENT)
        frames["bytes"], frames["channel"] = ACKNOWLEDGEMENT.itemsize - 4, OURS
        frames["kind"] = ACKNOWLEDGE_ONE if each else ACKNOWLEDGE
        frames["message"] = ids if each else ids[-1]
        return frames.tobytes()

    def _new_credit(self) -> bytes:
        """Encode credit for what was used, once that is half of the window; else nothing."""
        if self.used_bytes < self.orders.window_bytes // 2:
            return b""
        used, self.used_bytes = self.used_bytes, 0
        return self._credit(used)

    def _credit(self, size: int) -> bytes:
        return packet(CREDIT, OURS, struct.pack(">qi", 0, size))

    def _call(self, kind: int, content: bytes = b"", done: int = DONE) -> None:
        """Send a request and await its response; raise ``Refused`` for an error."""
        self.send(packet(kind, OURS, content))
        self._await(done)

    def _await(self, kind: int) -> None:
        self.finish_sending()
        answered, content = self.answer((kind, EXCEPTION))
        if answered == EXCEPTION:
            self._refuse(content)

    def _refuse(self, content: bytes) -> NoReturn:
        raise Refused(f"{self.address}: {read(content[HEAD.size + 4 :])}")

    def _error_text(self, run: Run) -> str:
        return read(bytes(self.view[run.at + HEAD.size + 4 : run.at + run.unit]))


def code_of(content: bytes) -> int:
    """Return the error code of an exception packet."""
    return int(struct.unpack_from(">i", content, HEAD.size)[0])

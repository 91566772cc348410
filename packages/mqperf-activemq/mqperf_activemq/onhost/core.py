"""The core protocol of Artemis on the wire: packets of a channel, each of a kind.

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
"""That of Artemis 2.7, the first in which answers say to which message."""

PING, DISCONNECT, EXCEPTION, DONE = 10, 11, 20, 21
CREATE_SESSION, SESSION_CREATED, CREATE_CONSUMER, ACKNOWLEDGE = 30, 31, 40, 41
START, CLOSE, CREDIT, SEND, MESSAGE, ACKNOWLEDGE_ONE = 67, 69, 70, 71, 75, 81
DISCONNECT_2, CREATE_QUEUE, CONSUMER_CREATED, DISCONNECT_3 = 124, -12, -14, -19
"""Kinds of packets."""

EVERY, FIRST, OURS = 0, 1, 10
"""Channels: of pings, of who creates sessions, and of our session."""

HEAD = struct.Struct(">ibq")
"""Bytes that follow, kind and channel of a packet."""

BODY_AT = HEAD.size + 4
"""Where a message has its body; before that stands where it ends, counted with ``HEAD``."""

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
    """A packet."""
    return HEAD.pack(HEAD.size - 4 + len(content), kind, channel) + content


def simple(name: str) -> bytes:
    """A name, such as that of a queue."""
    content = name.encode("utf-16-le")
    return struct.pack(">i", len(content)) + content


def text(words: str) -> bytes:
    """Any other string: short ones have two bytes for each character."""
    size = struct.pack(">i", len(words))
    if len(words) < 9:
        return size + words.encode("utf-16-be")
    content = words.encode()
    return size + struct.pack(">H", len(content)) + content


def maybe(words: str) -> bytes:
    """A string that there may be none of."""
    return b"\1" + text(words) if words else b"\0"


def read(content: bytes) -> str:
    """A string that there may be none of, as it is at the beginning of these bytes."""
    if not content or not content[0]:
        return ""
    [length] = struct.unpack_from(">i", content, 1)
    if length < 9:
        return content[5 : 5 + 2 * length].decode("utf-16-be", errors="replace")
    [size] = struct.unpack_from(">H", content, 5)
    return content[7 : 7 + size].decode(errors="replace")


def message(body: bytes, address: str, *, persistent: bool) -> bytes:
    """A message without properties."""
    size = struct.pack(">i", HEAD.size + len(body))
    head = struct.pack(">qb", 0, 1) + simple(address) + b"\0"
    kind = struct.pack(">b?qqb", BYTES_TYPE, persistent, 0, 0, PRIORITY)
    return size + body + head + kind + b"\0"


class Core(Framed):
    """A connection that speaks it, with one session, and one consumer if any."""

    message_kind = MESSAGE
    heartbeat = packet(PING, EVERY, struct.pack(">q", TTL_MS))

    @staticmethod
    def rows(orders: Orders, queue: str) -> Rows:
        """The messages of a thread, in rows."""
        body = os.urandom(orders.payload_bytes)
        content = message(body, queue, persistent=orders.persistent)
        content += struct.pack(">?q", orders.confirms > 0, 0)
        whole = packet(SEND, OURS, content)
        return Rows(whole, BODY_AT, len(orders.threads), [(len(whole) - 8, ">i8")])

    def log_in(self) -> None:
        """Return when the broker knows us."""
        broker, flags = self.broker, struct.pack(">i3bib", LONGEST, 0, 1, 1, -1, 0)
        session = text(self.name) + struct.pack(">qi", OURS, VERSION)
        login = maybe(broker.user) + maybe(broker.password)
        create = packet(CREATE_SESSION, FIRST, session + login + flags + b"\0")
        self.send(GREETING + create)
        self._done(SESSION_CREATED)

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
        """Ask for the messages of the queue."""
        self.publish()
        self.used_bytes = 0
        wanted = struct.pack(">q", 0) + simple(self.queue) + struct.pack(">3bi", 0, 0, 1, 0)
        self._call(CREATE_CONSUMER, wanted, CONSUMER_CREATED)
        self.send(packet(START, OURS) + self._credit(self.orders.window_bytes))

    def outcomes(self) -> Outcomes:
        """What became of messages."""
        confirmed, refused = list[Numbers](), list[tuple[int, str]]()
        for run in self.runs():
            if run.kind == DONE and run.unit >= HEAD.size + 8:
                confirmed.append(run.column(self.buffer, HEAD.size, ">i8"))
            elif run.kind == EXCEPTION:
                numbers = run.column(self.buffer, run.unit - 8, ">i8").tolist()
                refused += [(number, self._why(run)) for number in numbers]
            else:
                self.attend(run)
        self.forget()
        return Outcomes(np.concatenate([np.empty(0, np.int64), *confirmed]), refused)

    def attend(self, run: Run) -> None:
        """Raise for what is none of a message."""
        if run.kind in (DISCONNECT, DISCONNECT_2, DISCONNECT_3):
            raise self.lost("the broker ends the connection")
        if run.kind == EXCEPTION:
            raise self.lost(self._why(run))

    def messages(self, run: Run) -> tuple[Run, bytes, bytes]:
        """The first messages of a run, with their stamps and acknowledgements."""
        part, _ = run.split(run.alike(self.buffer, HEAD.size, 4))
        end_at = int(part.column(self.buffer, HEAD.size, ">i4")[0])
        body_at, size = run.at + BODY_AT, end_at - HEAD.size
        stamps = within(self.buffer, body_at, size, run.unit, part.rows)
        ids = part.column(self.buffer, BODY_AT + size, ">i8")
        self.used_bytes += part.rows * part.unit
        return part, stamps, self._acknowledging(ids) + self._replenishing()

    def _acknowledging(self, ids: Numbers) -> bytes:
        """A packet for each of some messages, or for all up to the last."""
        each = self.orders.acks == "each"
        frames = np.zeros(len(ids) if each else 1, ACKNOWLEDGEMENT)
        frames["bytes"], frames["channel"] = ACKNOWLEDGEMENT.itemsize - 4, OURS
        frames["kind"] = ACKNOWLEDGE_ONE if each else ACKNOWLEDGE
        frames["message"] = ids if each else ids[-1]
        return frames.tobytes()

    def _replenishing(self) -> bytes:
        """Credit for what has come, when that is half of all."""
        if self.used_bytes < self.orders.window_bytes // 2:
            return b""
        used, self.used_bytes = self.used_bytes, 0
        return self._credit(used)

    def _credit(self, size: int) -> bytes:
        return packet(CREDIT, OURS, struct.pack(">qi", 0, size))

    def _call(self, kind: int, content: bytes = b"", done: int = DONE) -> None:
        """Have something done; raises ``Refused`` when it is not."""
        self.send(packet(kind, OURS, content))
        self._done(done)

    def _done(self, kind: int) -> None:
        self.finish_sending()
        answered, content = self.answer((kind, EXCEPTION))
        if answered == EXCEPTION:
            self._refuse(content)

    def _refuse(self, content: bytes) -> NoReturn:
        raise Refused(f"{self.address}: {read(content[HEAD.size + 4 :])}")

    def _why(self, run: Run) -> str:
        return read(bytes(self.view[run.at + HEAD.size + 4 : run.at + run.unit]))


def code_of(content: bytes) -> int:
    """The number of what went wrong."""
    return int(struct.unpack_from(">i", content, HEAD.size)[0])

"""Codec of OpenWire's first version, which every broker with OpenWire understands.

Commands have loose encoding and nothing is cached, so all messages of a thread have one layout.
Source: https://activemq.apache.org/components/classic/documentation/openwire-version-2-specification.
"""

import os
import struct
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from mqperf_activemq.onhost.framed import Framed, Run
from mqperf_activemq.onhost.orders import Orders
from mqperf_activemq.onhost.rows import Rows
from mqperf_activemq.onhost.wire import NAME_BYTES, Outcomes
from mqperf_numbered.onhost.broker import Refused
from mqperf_numbered.onhost.record import Numbers
from mqperf_numbered.onhost.stamps import within

WIRE_FORMAT, CONNECTION, SESSION, CONSUMER, PRODUCER = 1, 3, 4, 5, 6
KEEP_ALIVE, REMOVE, ERROR = 10, 12, 16
DISPATCH, ACKNOWLEDGEMENT, BYTES_MESSAGE = 21, 22, 24
RESPONSE, EXCEPTION = 30, 31
QUEUE, MESSAGE_ID, LOCAL_TRANSACTION = 100, 110, 111
CONNECTION_ID, SESSION_ID, CONSUMER_ID, PRODUCER_ID = 120, 121, 122, 123
"""Kinds of commands, and of objects in them."""

ALL_UP_TO, THIS_ONE = 2, 4
"""Types of acknowledgements: of all messages up to one, or of that one."""

VERSION, MAGIC = 1, b"ActiveMQ"
LONG = 6
OPTIONS = {
    "MaxInactivityDuration": 60_000,
    "MaxInactivityDurationInitalDelay": 60_000,
    "MaxFrameSize": 2**63 - 1,
}
"""The broker ends a connection after this many silent milliseconds; "Inital" is OpenWire's name."""

SIZES = {"b": 1, "i": 4, "l": 8}
FIELDS: Mapping[int, str] = {
    **dict.fromkeys(range(QUEUE, QUEUE + 4), "s"),  # also topics, and temporary ones of both
    LOCAL_TRANSACTION: "ln",
    MESSAGE_ID: "nll",
    CONNECTION_ID: "s",
    CONSUMER_ID: "sll",
    PRODUCER_ID: "sll",
}
"""Kind of object -> its fields: byte (b), integer (i), long (l), string (s), nullable object (n).
"""

BEFORE_MESSAGE, BEFORE_ID, AFTER_ID = "ibnn", "ibnnnn", "nsisblbnls"
"""Fields of a delivery before its message, of that before its id, and from there to its body."""

CORRELATION_AT = 10
"""Offset, in a response, of the number of the command that it answers."""

NONE = b"\0"
AFTER_IDENTITY, BEFORE_BODY, AFTER_BODY = bytes(1 + 1 + 4 + 1), bytes(1 + 8 + 1), bytes(19)
"""Null or zero fields of a message: group and correlation; reply-to, timestamp and type;
properties, target consumer, redelivery count, broker path, arrival and user.
"""

PRIORITY = 4


def text(words: str) -> bytes:
    """Encode a string."""
    content = words.encode()
    return b"\1" + struct.pack(">H", len(content)) + content


def nested(kind: int, content: bytes) -> bytes:
    """Encode an object within another."""
    return struct.pack(">bb", 1, kind) + content


def queue_named(name: str) -> bytes:
    """Encode a queue as an object."""
    return nested(QUEUE, text(name))


def named(kind: int, name: str, *numbers: int) -> bytes:
    """Encode the id of a connection, or of a session, producer or consumer of it by numbers."""
    return nested(kind, text(name) + struct.pack(f">{len(numbers)}q", *numbers))


def command(kind: int, number: int, content: bytes = b"", *, answered: bool = True) -> bytes:
    """Encode a command, which may request a response."""
    head = struct.pack(">bi?", kind, number, answered)
    return struct.pack(">i", len(head) + len(content)) + head + content


def wire_format() -> bytes:
    """Encode the first command: the version, and how long a connection may be silent."""
    entries = [text(key)[1:] + struct.pack(">bq", LONG, value) for key, value in OPTIONS.items()]
    properties = struct.pack(">i", len(entries)) + b"".join(entries)
    content = struct.pack(">b8sibi", WIRE_FORMAT, MAGIC, VERSION, 1, len(properties))
    return struct.pack(">i", len(content) + len(properties)) + content + properties


def passed(buffer: bytearray, at: int, fields: str) -> int:
    """Return the end of the fields that begin at ``at``."""
    for field in fields:
        if field in SIZES:
            at += SIZES[field]
        elif not buffer[at]:
            at += 1
        elif field == "s":
            at += 3 + int.from_bytes(buffer[at + 1 : at + 3], "big")
        else:
            at = passed(buffer, at + 2, FIELDS[buffer[at + 1]])
    return at


class Form(NamedTuple):
    """The layout of a delivery: offsets from its beginning and sizes of message id and body."""

    id_at: int
    id_bytes: int
    body_at: int
    body_bytes: int


def form_of(buffer: bytearray, at: int) -> Form:
    """Return the layout of the delivery at ``at``."""
    message = passed(buffer, at + 5, BEFORE_MESSAGE) + 2
    begin = passed(buffer, message, BEFORE_ID)
    end = passed(buffer, begin, "n")
    body = passed(buffer, end, AFTER_ID)
    size = int.from_bytes(buffer[body + 1 : body + 5], "big") if buffer[body] else 0
    return Form(begin - at, end - begin, body + 5 - at, size)


class OpenWire(Framed):
    """A connection with OpenWire: one session, and one producer or consumer."""

    message_kind = DISPATCH
    heartbeat = command(KEEP_ALIVE, 0)

    @staticmethod
    def rows(orders: Orders, queue: str) -> Rows:
        """Return the messages of a thread as rows."""
        producer = named(PRODUCER_ID, "x" * NAME_BYTES, 1, 1)
        before = producer + queue_named(queue) + NONE + NONE
        identity = nested(MESSAGE_ID, producer + struct.pack(">qq", 0, 0))
        after = AFTER_IDENTITY + struct.pack(">?qb", orders.persistent, 0, PRIORITY) + BEFORE_BODY
        body = struct.pack(">bi", 1, orders.payload_bytes) + os.urandom(orders.payload_bytes)
        content = before + identity + after + body + AFTER_BODY
        message = command(BYTES_MESSAGE, 0, content, answered=orders.confirms > 0)
        head = len(message) - len(content)
        id_at = head + len(before)
        name_at = len(nested(PRODUCER_ID, b"")) + len(text(""))
        names_at = (head + name_at, id_at + len(nested(MESSAGE_ID, b"")) + name_at)
        numbers_at = [(5, ">i4"), (id_at + len(identity) - 16, ">i8")]
        stamp_at = id_at + len(identity) + len(after) + 5
        return Rows(message, stamp_at, len(orders.threads), numbers_at, names_at)

    def log_in(self) -> None:
        """Return when the broker has accepted the connection and a session."""
        self.send(wire_format())
        self.answer([WIRE_FORMAT])
        connection = named(CONNECTION_ID, self.name)
        user, password = (
            text(word) if word else NONE for word in (self.broker.user, self.broker.password)
        )
        self._call(CONNECTION, connection + text(self.name) + password + user + NONE + bytes(2))
        self._call(SESSION, named(SESSION_ID, self.name, 1))

    def take_leave(self) -> None:
        """Return when the broker has read all that was sent."""
        self._call(REMOVE, named(CONNECTION_ID, self.name))

    def publish(self) -> None:
        """Create a producer; the first message creates the queue if there is none."""
        producer = named(PRODUCER_ID, self.name, 1, 1)
        self._call(PRODUCER, producer + queue_named(self.queue) + NONE)
        self.answers = np.full(max(self.orders.confirms, 1), -1)

    def consume(self) -> None:
        """Create a consumer, without awaiting the response: messages may arrive before it."""
        self.consumer = named(CONSUMER_ID, self.name, 1, 1)
        limits = struct.pack(">iib", self.orders.prefetch, 0, 1)
        content = self.consumer + NONE + queue_named(self.queue) + limits + bytes(2 + 4 + 2 + 3)
        self.send(command(CONSUMER, 0, content))

    def outcomes(self) -> Outcomes:
        """Return the confirmed and the refused messages."""
        confirmed, refused = list[Numbers](), list[tuple[int, str]]()
        for run in self.runs():
            if run.kind == RESPONSE:
                confirmed.append(run.column(self.buffer, CORRELATION_AT, ">i4"))
            elif run.kind == EXCEPTION:
                numbers = run.column(self.buffer, CORRELATION_AT, ">i4").tolist()
                refused += [(number, self._error_text(run)) for number in numbers]
            else:
                self.attend(run)
        self.forget()
        return Outcomes(self._new(np.concatenate([np.empty(0, np.int64), *confirmed])), refused)

    def attend(self, run: Run) -> None:
        """Raise ``Refused`` for an exception, ``Lost`` for a connection error."""
        if run.kind == EXCEPTION:
            raise Refused(f"{self.address}: {self._error_text(run)}")
        if run.kind == ERROR:
            raise self.lost(self._error_text(run))

    def messages(self, run: Run) -> tuple[Run, bytes, bytes]:
        """Return the first messages of a run, with their stamps and acknowledgements."""
        form = form_of(self.buffer, run.at)
        places = ((form.id_at, min(6, form.id_bytes)), (form.body_at - 5, 5))
        same, _ = run.split(min(run.alike(self.buffer, *place) for place in places))
        body_at = run.at + form.body_at
        stamps = within(self.buffer, body_at, form.body_bytes, run.unit, same.rows)
        return same, stamps, self._acks(same, form)

    def _new(self, numbers: Numbers) -> Numbers:
        """Return numbers not seen before: Artemis 2.56 answers most transient messages twice."""
        distinct = np.unique(numbers)
        new: Numbers = distinct[self.answers.take(distinct, mode="wrap") != distinct]
        self.answers.put(new, new, mode="wrap")
        return new

    def _acks(self, messages: Run, form: Form) -> bytes:
        """Encode one acknowledgement of each of these messages, or one of all of them."""
        each = self.orders.acks == "each"
        ids = messages.bytes_at(self.buffer, form.id_at, form.id_bytes)
        head = queue_named(self.queue) + NONE + self.consumer
        head += struct.pack(">b", THIS_ONE if each else ALL_UP_TO)
        firsts, lasts = (ids, ids) if each else (ids[:1], ids[-1:])
        count = struct.pack(">i", 1 if each else messages.rows)
        return b"".join(
            command(ACKNOWLEDGEMENT, 0, head + first + last + count, answered=False)
            for first, last in zip(map(bytes, firsts), map(bytes, lasts), strict=True)
        )

    def _call(self, kind: int, content: bytes) -> None:
        """Send a command and await its response; raise ``Refused`` for an error."""
        self.send(command(kind, 0, content))
        self.finish_sending()
        answered, frame = self.answer((RESPONSE, EXCEPTION, ERROR))
        if answered != RESPONSE:
            raise Refused(f"{self.address}: {words_of(frame)}")

    def _error_text(self, run: Run) -> str:
        return words_of(bytes(self.view[run.at : run.at + run.unit]))


def words_of(frame: bytes) -> str:
    """Return the error in a response: the name of its Java class, and its message."""
    buffer, words = bytearray(frame), list[str]()
    at = CORRELATION_AT + (1 if frame[4] == ERROR else 5)
    while at + 3 <= len(frame) and buffer[at] and len(words) < 2:
        end = passed(buffer, at, "s")
        words.append(frame[at + 3 : end].decode(errors="replace"))
        at = end
    return ": ".join(words) or "it is in error"

"""Encodes and decodes frames, methods and properties of AMQP 0-9-1.

The specification is that of the AMQP Working Group of November 2008 (OASIS has no copy), with
RabbitMQ's extensions (confirms, ``connection.blocked``); only what publishers and consumers need.
"""

import re
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

HEADER = b"AMQP\x00\x00\x09\x01"
METHOD, CONTENT_HEADER, BODY, HEARTBEAT_TYPE = 1, 2, 3, 8
END = 0xCE
FRAME = struct.Struct(">BHI")
OVERHEAD = FRAME.size + 1
"""Bytes of a frame around its payload."""

Method = tuple[int, int]

START, START_OK = (10, 10), (10, 11)
TUNE, TUNE_OK = (10, 30), (10, 31)
OPEN, OPEN_OK = (10, 40), (10, 41)
CLOSE, CLOSE_OK = (10, 50), (10, 51)
BLOCKED, UNBLOCKED = (10, 60), (10, 61)
CHANNEL_OPEN, CHANNEL_OPEN_OK = (20, 10), (20, 11)
FLOW, FLOW_OK = (20, 20), (20, 21)
CHANNEL_CLOSE, CHANNEL_CLOSE_OK = (20, 40), (20, 41)
EXCHANGE_DECLARE, EXCHANGE_DECLARE_OK = (40, 10), (40, 11)
QUEUE_DECLARE, QUEUE_DECLARE_OK = (50, 10), (50, 11)
QUEUE_BIND, QUEUE_BIND_OK = (50, 20), (50, 21)
QUEUE_DELETE, QUEUE_DELETE_OK = (50, 40), (50, 41)
QOS, QOS_OK = (60, 10), (60, 11)
CONSUME, CONSUME_OK = (60, 20), (60, 21)
CANCEL, CANCEL_OK = (60, 30), (60, 31)
PUBLISH, RETURN, DELIVER = (60, 40), (60, 50), (60, 60)
ACK, REJECT, NACK = (60, 80), (60, 90), (60, 120)
SELECT, SELECT_OK = (85, 10), (85, 11)

Value = bool | int | float | str | bytes | None | list["Value"] | Mapping[str, "Value"]
Table = Mapping[str, Value]


def short(text: str | bytes) -> bytes:
    """Encode a short string, of up to 255 bytes."""
    content = text.encode() if isinstance(text, str) else text
    if len(content) > 255:
        raise ValueError(f"a short string has at most 255 bytes, not {len(content)}")
    return bytes([len(content)]) + content


def long(content: bytes) -> bytes:
    """Encode a long string."""
    return struct.pack(">I", len(content)) + content


def table(values: Table) -> bytes:
    """Encode a field table."""
    return long(b"".join(short(name) + _field(value) for name, value in values.items()))


def _field(value: Value) -> bytes:  # noqa: PLR0911 (one for each type)
    match value:
        case None:
            return b"V"
        case bool():
            return b"t" + bytes([value])
        case int():
            return b"l" + struct.pack(">q", value)
        case float():
            return b"d" + struct.pack(">d", value)
        case str():
            return b"S" + long(value.encode())
        case bytes():
            return b"x" + long(value)
        case list():
            return b"A" + long(b"".join(map(_field, value)))
        case _:
            return b"F" + table(value)


def frame(kind: int, channel: int, payload: bytes) -> bytes:
    """Encode a frame."""
    return FRAME.pack(kind, channel, len(payload)) + payload + bytes([END])


HEARTBEAT = frame(HEARTBEAT_TYPE, 0, b"")


def method(channel: int, which: Method, arguments: bytes = b"") -> bytes:
    """Encode the frame of a method."""
    return frame(METHOD, channel, struct.pack(">HH", *which) + arguments)


@dataclass(frozen=True, slots=True)
class Properties:
    """The properties of a message, in the order of the wire format."""

    content_type: str | bytes | None = None
    content_encoding: str | bytes | None = None
    headers: Table | None = None
    delivery_mode: int | None = None
    priority: int | None = None
    correlation_id: str | bytes | None = None
    reply_to: str | bytes | None = None
    expiration: str | bytes | None = None
    message_id: str | bytes | None = None
    timestamp: int | None = None
    type: str | bytes | None = None
    user_id: str | bytes | None = None
    app_id: str | bytes | None = None
    cluster_id: str | bytes | None = None

    def encode(self) -> bytes:
        """Encode the flags, and the values that are not None."""
        flags, content = 0, b""
        for bit, field in enumerate(fields(self)):
            if (value := getattr(self, field.name)) is not None:
                flags |= 1 << (15 - bit)
                content += _property(field.name, value)
        return struct.pack(">H", flags) + content


def _property(name: str, value: str | bytes | int | Table) -> bytes:
    if isinstance(value, int):
        return struct.pack(">Q" if name == "timestamp" else ">B", value)
    return short(value) if isinstance(value, str | bytes) else table(value)


def content(channel: int, properties: bytes, body: bytes, frame_max: int) -> bytes:
    """Encode the frames of a message after its method: its header, and those of its body."""
    header = struct.pack(">HHQ", 60, 0, len(body)) + properties
    return frame(CONTENT_HEADER, channel, header) + b"".join(
        frame(BODY, channel, part) for part in split(body, frame_max)
    )


def split(body: bytes, frame_max: int) -> Iterable[bytes]:
    """Split a body into parts that fit into frames; an empty body has none."""
    room = frame_max - OVERHEAD
    return (body[first : first + room] for first in range(0, len(body), room))


NO_ARGUMENTS: Table = {}


def queue_declare(  # noqa: PLR0913 (as many as the method has)
    queue: str | bytes,
    arguments: Table = NO_ARGUMENTS,
    *,
    passive: bool = False,
    durable: bool = False,
    exclusive: bool = False,
    auto_delete: bool = False,
) -> bytes:
    """The arguments of ``queue.declare``."""
    flags = passive | durable << 1 | exclusive << 2 | auto_delete << 3
    return b"\0\0" + short(queue) + bytes([flags]) + table(arguments)


def exchange_declare(
    exchange: str, kind: str, *, durable: bool = False, auto_delete: bool = False
) -> bytes:
    """The arguments of ``exchange.declare``."""
    flags = durable << 1 | auto_delete << 2
    return b"\0\0" + short(exchange) + short(kind) + bytes([flags]) + table(NO_ARGUMENTS)


def queue_delete(queue: str) -> bytes:
    """The arguments of ``queue.delete``, even if the queue is in use or not empty."""
    return b"\0\0" + short(queue) + b"\0"


def queue_bind(
    queue: str, exchange: str, routing_key: str, arguments: Table = NO_ARGUMENTS
) -> bytes:
    """The arguments of ``queue.bind``."""
    return b"\0\0" + short(queue) + short(exchange) + short(routing_key) + b"\0" + table(arguments)


def consume(queue: str | bytes, arguments: Table = NO_ARGUMENTS, *, no_ack: bool) -> bytes:
    """The arguments of ``basic.consume``."""
    return b"\0\0" + short(queue) + short("c") + bytes([no_ack << 1]) + table(arguments)


def qos(prefetch: int) -> bytes:
    """The arguments of ``basic.qos``, for each consumer of a channel."""
    return struct.pack(">IHB", 0, prefetch, 0)


def ack(tag: int) -> bytes:
    """The arguments of ``basic.ack`` for a single delivery."""
    return struct.pack(">QB", tag, 0)


def publish(exchange: str, routing_key: str | bytes, *, mandatory: bool) -> bytes:
    """The arguments of ``basic.publish``."""
    return b"\0\0" + short(exchange) + short(routing_key) + bytes([mandatory])


class Reader:
    """Decodes the arguments of a method one after the other."""

    def __init__(self, payload: bytes, at: int = 4) -> None:
        self.payload = payload
        self.at = at

    def number(self, form: str) -> int:
        """Decode a number of that format of ``struct``."""
        (value,) = struct.unpack_from(f">{form}", self.payload, self.at)
        self.at += struct.calcsize(f">{form}")
        return int(value)

    def short(self) -> bytes:
        """Decode a short string."""
        length = self.number("B")
        return self._take(length)

    def long(self) -> bytes:
        """Decode a long string, or a whole table as bytes."""
        return self._take(self.number("I"))

    def _take(self, length: int) -> bytes:
        taken = self.payload[self.at : self.at + length]
        if len(taken) < length:
            raise ValueError("a string is longer than its frame")
        self.at += length
        return taken


def message_id(header: bytes) -> bytes | None:
    """Return the message-id in the payload of a content header."""
    return _text(header, "message_id")


def correlation_id(header: bytes) -> bytes | None:
    """Return the correlation-id in the payload of a content header."""
    return _text(header, "correlation_id")


def reply_to(header: bytes) -> bytes | None:
    """Return the reply-to in the payload of a content header."""
    return _text(header, "reply_to")


def _text(header: bytes, name: str) -> bytes | None:
    """Return a property that is a short string, skipping the properties before it."""
    reader = Reader(header, 12)
    flags = reader.number("H")
    for bit, field in enumerate(fields(Properties)):
        present = flags & 1 << (15 - bit)
        if field.name == name:
            return reader.short() if present else None
        if present and field.name == "headers":
            reader.long()
        elif present and field.name in {"delivery_mode", "priority"}:
            reader.number("B")
        elif present:
            reader.short()
    raise ValueError(f"no property of a message: {name}")


def delivery_tag(method: bytes) -> int:
    """Return the delivery tag in the payload of ``basic.deliver``."""
    reader = Reader(method)
    reader.short()
    return reader.number("Q")


def redelivered(method: bytes) -> bool:
    """Return the redelivered flag in the payload of ``basic.deliver``."""
    reader = Reader(method)
    reader.short()
    reader.number("Q")
    return bool(reader.number("B") & 1)


def version_of(start: Reader) -> tuple[int, ...]:
    """Return major and minor version of the broker from ``connection.start``; () if not there."""
    start.number("H")
    match = re.search(rb"\x07versionS.{4}(\d+)\.(\d+)", start.long(), re.DOTALL)
    return tuple(map(int, match.groups())) if match else ()


def which(payload: bytes) -> Method:
    """Return the class and method ids of a method frame."""
    first, second = struct.unpack_from(">HH", payload)
    return first, second

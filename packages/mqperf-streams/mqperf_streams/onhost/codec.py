"""The stream protocol on the wire: frames, requests and answers, as bytes.

Source: ``deps/rabbitmq_stream/docs/PROTOCOL.adoc`` of RabbitMQ.  Only what a publisher or consumer
needs, in version 1 of every command.
"""

import struct
from collections.abc import Mapping

SIZE = struct.Struct(">I")
COMMAND = struct.Struct(">HH")
"""Key and version, behind the size of a frame."""

DECLARE_PUBLISHER, PUBLISH, CONFIRM, ERROR = 0x01, 0x02, 0x03, 0x04
SUBSCRIBE, DELIVER, CREDIT = 0x07, 0x08, 0x09
CREATE, METADATA, METADATA_UPDATE = 0x0D, 0x0F, 0x10
PEER_PROPERTIES, SASL_HANDSHAKE, SASL_AUTHENTICATE = 0x11, 0x12, 0x13
TUNE, OPEN, CLOSE, HEARTBEAT, PARTITIONS = 0x14, 0x15, 0x16, 0x17, 0x19
ANSWER = 0x8000
"""What the key of an answer has beyond that of its request."""

OK, NO_STREAM, EXISTS, UNAVAILABLE = 0x01, 0x02, 0x05, 0x06
NO_LEADER = 0xFFFF
CODES = {
    NO_STREAM: "the stream does not exist",
    UNAVAILABLE: "the stream is not available",
    0x07: "the mechanism is not supported",
    0x08: "the broker refuses the user or the password",
    0x0C: "there is no such virtual host",
    0x10: "the user has no access to it",
    0x11: "the stream is there with other arguments",
}

PUBLISHED = struct.Struct(">IHHBi")
"""The beginning of a frame of messages: size, key, version, publisher, how many."""

MESSAGE = struct.Struct(">QI")
"""Before each message: its publishing id, and its length."""

SECTION = b"\0\x53\x75\xb0"
"""Before the length of a body: a data section of AMQP 1.0, so that all clients can read it."""

BODY_AT = len(SECTION) + 4
"""Where in a message its body begins."""

CHUNK = struct.Struct(">BBBHIqQQIIII")
"""What is delivered, up to its messages: subscription, magic, type, how many entries and messages,
time, epoch, the number of the first, CRC, bytes of entries and of what is behind them, reserved."""


def string(text: str) -> bytes:
    """A string: its length in two bytes, and UTF-8."""
    content = text.encode()
    return struct.pack(">h", len(content)) + content


def pairs(values: Mapping[str, str]) -> bytes:
    """A list of names and values."""
    listed = b"".join(string(name) + string(value) for name, value in values.items())
    return struct.pack(">i", len(values)) + listed


def one(text: str) -> bytes:
    """A list of one string."""
    return struct.pack(">i", 1) + string(text)


def has_leader(content: bytes) -> bool:
    """Whether what is said of the metadata of one stream names its leader."""
    (brokers,), at = struct.unpack_from(">i", content), 4
    for _ in range(brokers):  # reference, name of the host, port
        (length,) = struct.unpack_from(">H", content, at + 2)
        at += 4 + length + 4
    (length,) = struct.unpack_from(">H", content, at + 4)
    code, leader = struct.unpack_from(">HH", content, at + 6 + length)
    return bool(code == OK and leader != NO_LEADER)


def strings(content: bytes) -> list[str]:
    """Those of a list."""
    (count,), at, texts = struct.unpack_from(">i", content), 4, []
    for _ in range(count):
        (length,) = struct.unpack_from(">h", content, at)
        texts.append(content[at + 2 : at + 2 + length].decode())
        at += 2 + length
    return texts


def opaque(content: bytes) -> bytes:
    """Bytes: their length in four bytes, and themselves."""
    return struct.pack(">i", len(content)) + content


def frame(key: int, payload: bytes = b"") -> bytes:
    """A frame without a correlation id."""
    return SIZE.pack(COMMAND.size + len(payload)) + COMMAND.pack(key, 1) + payload


def request(key: int, payload: bytes = b"") -> bytes:
    """A frame that is answered; one at a time is, so that all have the same correlation id."""
    return frame(key, SIZE.pack(1) + payload)


def words(code: int) -> str:
    """What a response code says."""
    return CODES.get(code, f"the broker answers with code {code}")

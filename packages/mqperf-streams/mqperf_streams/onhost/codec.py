"""Encodes and decodes frames, requests and answers of the stream protocol.

Source: ``deps/rabbitmq_stream/docs/PROTOCOL.adoc`` of RabbitMQ.  Only what a publisher or consumer
needs, in version 1 of every command.
"""

import struct
from collections.abc import Mapping

SIZE = struct.Struct(">I")
COMMAND = struct.Struct(">HH")
"""Key and version, after the size of a frame."""

DECLARE_PUBLISHER, PUBLISH, CONFIRM, ERROR = 0x01, 0x02, 0x03, 0x04
SUBSCRIBE, DELIVER, CREDIT = 0x07, 0x08, 0x09
CREATE, METADATA, METADATA_UPDATE = 0x0D, 0x0F, 0x10
PEER_PROPERTIES, SASL_HANDSHAKE, SASL_AUTHENTICATE = 0x11, 0x12, 0x13
TUNE, OPEN, CLOSE, HEARTBEAT, PARTITIONS = 0x14, 0x15, 0x16, 0x17, 0x19
ANSWER = 0x8000
"""The bit that the key of an answer has in addition to that of its request."""

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
"""The beginning of a frame of messages: size, key, version, publisher, number of messages."""

MESSAGE = struct.Struct(">QI")
"""The beginning of each message: publishing id, and length."""

SECTION = b"\0\x53\x75\xb0"
"""The head of a data section of AMQP 1.0, before the length of a body; all clients can read it."""

BODY_AT = len(SECTION) + 4
"""The offset of the body in a message."""

CHUNK = struct.Struct(">BBBHIqQQIIII")
"""A delivery up to its messages: subscription, magic, type, numbers of entries and messages, time,
epoch, offset of the first message, CRC, bytes of entries and of the trailer, reserved."""


def string(text: str) -> bytes:
    """Encode a string: its length in two bytes, and UTF-8."""
    content = text.encode()
    return struct.pack(">h", len(content)) + content


def pairs(values: Mapping[str, str]) -> bytes:
    """Encode a list of names and values."""
    content = b"".join(string(name) + string(value) for name, value in values.items())
    return struct.pack(">i", len(values)) + content


def one(text: str) -> bytes:
    """Encode a list of one string."""
    return struct.pack(">i", 1) + string(text)


def has_leader(content: bytes) -> bool:
    """Whether the metadata of one stream, an answer to ``METADATA``, has a leader."""
    (brokers,), at = struct.unpack_from(">i", content), 4
    for _ in range(brokers):  # reference, name of the host, port
        (length,) = struct.unpack_from(">H", content, at + 2)
        at += 4 + length + 4
    (length,) = struct.unpack_from(">H", content, at + 4)
    code, leader = struct.unpack_from(">HH", content, at + 6 + length)
    return bool(code == OK and leader != NO_LEADER)


def strings(content: bytes) -> list[str]:
    """Decode a list of strings."""
    (count,), at, texts = struct.unpack_from(">i", content), 4, []
    for _ in range(count):
        (length,) = struct.unpack_from(">h", content, at)
        texts.append(content[at + 2 : at + 2 + length].decode())
        at += 2 + length
    return texts


def opaque(content: bytes) -> bytes:
    """Encode bytes: their length in four bytes, and their content."""
    return struct.pack(">i", len(content)) + content


def frame(key: int, payload: bytes = b"") -> bytes:
    """Encode a frame without a correlation id."""
    return SIZE.pack(COMMAND.size + len(payload)) + COMMAND.pack(key, 1) + payload


def request(key: int, payload: bytes = b"") -> bytes:
    """Encode a request; only one is open at a time, so that all have the same correlation id."""
    return frame(key, SIZE.pack(1) + payload)


def words(code: int) -> str:
    """Return the meaning of a response code."""
    return CODES.get(code, f"the broker answers with code {code}")

"""Encodes and decodes the protocol of NATS: lines, and the messages that follow some of them.

Source: https://docs.nats.io/reference/reference-protocols/nats-protocol.
"""

import json
import re
import uuid
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

PING, PONG = b"PING\r\n", b"PONG\r\n"
END = b"\r\n"
ACK = b"+ACK"
NOBODY = b"NATS/1.0 503"
"""The header of an answer for a subject without subscribers."""

LINE = re.compile(rb"([^\r\n]*)\r\n")
MESSAGE = re.compile(rb"H?MSG (\S+) (\d+) +(?:([^\s\d]\S*) +)?(?:\d+ )?(\d+)\r\n")
"""Subject, number of the subscription, reply subject, bytes of headers and body."""


class Messages(NamedTuple):
    """Consecutive messages with identical heads in a buffer.

    The body of the first is at ``at``, of ``size`` bytes; that of the next is ``unit`` bytes later.
    """

    subject: bytes
    subscription: int
    reply: bytes | None
    at: int
    size: int
    unit: int
    rows: int

    @property
    def ends(self) -> range:
        """The offset of the end of each message."""
        first = self.at + self.size + len(END)
        return range(first, first + self.rows * self.unit, self.unit)


def parsed(buffer: bytearray, at: int, have: int) -> Messages | bytes | None:
    """Return the messages at that offset, or the line without its end; None if it is not whole.

    Messages to be acknowledged have different heads, so they are returned singly, others together.
    """
    found = MESSAGE.match(buffer, at, have)
    if found is None:
        line = LINE.match(buffer, at, have)
        return None if line is None else line[1]
    subject, subscription, reply, length = found.groups()
    begin, size = found.end(), int(length)
    unit = begin - at + size + len(END)
    rows = min((have - at) // unit, have if reply is None else 1)
    if not rows:
        return None
    if rows > 1:
        heads = np.ndarray((rows, begin - at), np.uint8, buffer, at, (unit, 1))
        identical = (heads == heads[0]).all(axis=1)
        rows = rows if identical.all() else int(identical.argmin())
    return Messages(subject, int(subscription), reply, begin, size, unit, rows)


def fresh_inbox() -> str:
    """Return a unique prefix of subjects; all have the same length."""
    return f"_INBOX.{uuid.uuid4().hex}"


def connect(user: str, password: str) -> bytes:
    """Encode the line by which a client logs in; it asks for ``no_responders`` answers."""
    values = {"user": user, "pass": password, "name": "mqperf", "lang": "python", "version": "1"}
    flags = {"verbose": False, "pedantic": False, "headers": True, "no_responders": True}
    return b"CONNECT " + json.dumps({**values, **flags, "protocol": 1}).encode() + END


def subscribe(subject: str, subscription: int) -> bytes:
    """Encode the line that subscribes to a subject."""
    return f"SUB {subject} {subscription}\r\n".encode()


def publish(subject: bytes, body: bytes, reply: bytes = b"") -> bytes:
    """Encode a message, with a reply subject if there is one."""
    return b"PUB %s %s %d\r\n%s\r\n" % (subject, reply, len(body), body)


def request(verb: str, name: str, values: Mapping[str, object], reply: bytes) -> bytes:
    """Encode a request to JetStream, such as ``STREAM.CREATE`` for the stream of that name."""
    body = json.dumps(values).encode() if values else b""
    return publish(f"$JS.API.{verb}.{name}".encode(), body, reply)

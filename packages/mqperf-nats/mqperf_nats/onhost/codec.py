"""The protocol of NATS on the wire: lines, and the messages that follow some of them.

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
"""The header of an answer that says that nobody listens to a subject."""

LINE = re.compile(rb"([^\r\n]*)\r\n")
MESSAGE = re.compile(rb"H?MSG (\S+) (\d+) +(?:([^\s\d]\S*) +)?(?:\d+ )?(\d+)\r\n")
"""Subject, number of the subscription, subject for answers, bytes of headers and body."""


class Messages(NamedTuple):
    """Messages that follow each other and have one and the same head, as they are in a buffer.

    The first has its body at ``at``, of ``size`` bytes, the next one ``unit`` bytes later.
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
        """Where each ends."""
        first = self.at + self.size + len(END)
        return range(first, first + self.rows * self.unit, self.unit)


def parsed(buffer: bytearray, at: int, have: int) -> Messages | bytes | None:
    """The messages that begin there, or the line, without its end; None before it is whole.

    Messages that are to be acknowledged have heads of their own; others are taken together.
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
        alike = (heads == heads[0]).all(axis=1)
        rows = rows if alike.all() else int(alike.argmin())
    return Messages(subject, int(subscription), reply, begin, size, unit, rows)


def fresh_inbox() -> str:
    """The beginning of subjects that nobody else has, as long as every other one."""
    return f"_INBOX.{uuid.uuid4().hex}"


def connect(user: str, password: str) -> bytes:
    """The line by which a client logs in; it is told at once where nobody listens."""
    values = {"user": user, "pass": password, "name": "mqperf", "lang": "python", "version": "1"}
    flags = {"verbose": False, "pedantic": False, "headers": True, "no_responders": True}
    return b"CONNECT " + json.dumps({**values, **flags, "protocol": 1}).encode() + END


def subscribe(subject: str, subscription: int) -> bytes:
    """The line that asks for what is published to a subject."""
    return f"SUB {subject} {subscription}\r\n".encode()


def publish(subject: bytes, body: bytes, reply: bytes = b"") -> bytes:
    """A message, with a subject for answers to it, if there are to be any."""
    return b"PUB %s %s %d\r\n%s\r\n" % (subject, reply, len(body), body)


def request(verb: str, name: str, values: Mapping[str, object], reply: bytes) -> bytes:
    """What is asked of JetStream, as ``STREAM.CREATE`` of the stream of that name."""
    body = json.dumps(values).encode() if values else b""
    return publish(f"$JS.API.{verb}.{name}".encode(), body, reply)

"""The protocol of a channel: messages are a line of JSON, some of them followed by raw bytes.

Both ends, and all that the remote end imports, need only the standard library of Python 3.11.
"""

import json
from typing import Any, BinaryIO

GREETING = b"mqperf-agent "
"""Beginning of an agent's first line; login scripts may print other lines before it."""

Head = dict[str, Any]


def pack(head: Head, data: bytes = b"") -> bytes:
    """Encode a message."""
    return json.dumps({**head, "bytes": len(data)}).encode() + b"\n" + data


def receive(source: BinaryIO) -> tuple[Head, bytes] | None:
    """Read the next message; None at the end."""
    line = source.readline()
    if not line.endswith(b"\n"):
        return None
    head = json.loads(line)
    size = head.pop("bytes")
    data = source.read(size) if size else b""
    return (head, data) if len(data) == size else None

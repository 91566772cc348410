"""What both ends of a channel write: a line of JSON, and after some lines raw bytes.

Both ends and all that the far end imports run with the standard library of Python 3.11.
"""

import json
from typing import Any, BinaryIO

GREETING = b"mqperf-agent "
"""What the first line of an agent begins with: login scripts may print lines before it."""

Head = dict[str, Any]


def pack(head: Head, data: bytes = b"") -> bytes:
    """A message."""
    return json.dumps({**head, "bytes": len(data)}).encode() + b"\n" + data


def receive(source: BinaryIO) -> tuple[Head, bytes] | None:
    """The next message; None at the end."""
    line = source.readline()
    if not line.endswith(b"\n"):
        return None
    head = json.loads(line)
    size = head.pop("bytes")
    data = source.read(size) if size else b""
    return (head, data) if len(data) == size else None

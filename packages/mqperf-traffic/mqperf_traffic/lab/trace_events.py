"""Parses the headers with which RabbitMQ's firehose describes a published message."""

import struct
from collections.abc import Iterator
from typing import NamedTuple

SIZE = struct.Struct(">I")
WIDTHS = {
    **dict.fromkeys("V", 0),
    **dict.fromkeys("tbB", 1),
    **dict.fromkeys("sUu", 2),
    **dict.fromkeys("Iif", 4),
    **dict.fromkeys("D", 5),
    **dict.fromkeys("lLdT", 8),
}
"""Bytes of values of fixed size, by the letter of their type; other values begin with theirs."""

EXCHANGE, ROUTING_KEYS, QUEUES = b"exchange_name", b"routing_keys", b"routed_queues"


class Published(NamedTuple):
    """Where a message was published to, and to how many queues it went."""

    exchange: str
    routing_key: str
    queues: int


def published(table: bytes) -> Published:
    """Parse a table of headers, which begins with its length.

    Several routing keys of a message (CC, BCC) are joined by commas.  Raises ``ValueError`` for a
    table that is not the firehose's.
    """
    try:
        values = dict(_routing_fields(table))
        exchange, keys = values[EXCHANGE], [*_texts(values[ROUTING_KEYS])]
        queues = sum(1 for _ in _texts(values[QUEUES]))
    except (struct.error, KeyError, IndexError):
        raise ValueError("a message came that is none of the firehose's") from None
    return Published(_text(exchange), ",".join(map(_text, keys)), queues)


def _routing_fields(table: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield name and content of the fields for exchange, routing keys and queues."""
    at, end = SIZE.size, SIZE.size + SIZE.unpack_from(table)[0]
    while at < end:
        name = table[at + 1 : at + 1 + table[at]]
        at += 1 + len(name)
        kind, at = chr(table[at]), at + 1
        if (width := WIDTHS.get(kind)) is None:
            width, at = SIZE.unpack_from(table, at)[0], at + SIZE.size
        if name in {EXCHANGE, ROUTING_KEYS, QUEUES}:
            yield name, table[at : at + width]
        at += width


def _texts(array: bytes) -> Iterator[bytes]:
    """Yield the elements of an array of long strings."""
    at = 0
    while at < len(array):
        length = SIZE.unpack_from(array, at + 1)[0]
        at += 1 + SIZE.size
        yield array[at : at + length]
        at += length


def _text(content: bytes) -> str:
    return content.decode(errors="replace")

"""What a process of requests is told, and how its messages begin."""

import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mqperf_amqp_0_9_1.onhost import codec
from mqperf_amqp_0_9_1.onhost.closed_loop import CHANNEL, OfQueues
from mqperf_amqp_0_9_1.onhost.codec import Properties, short, table
from mqperf_amqp_0_9_1.onhost.connection import Connection
from mqperf_numbered.onhost.orders import of_kind, read_orders

NO_ACK = 0b10


@dataclass(frozen=True, slots=True)
class Requests(OfQueues):
    """What is told beyond queues: where replies go, and how long bodies are."""

    reply_to: Literal["direct", "queue"]
    payload_bytes: int
    reply_bytes: int


def read(file: Path) -> Requests:
    """The orders in a file."""
    return of_kind(Requests, read_orders(file))


class Publisher:
    """Publishes to queues of a connection, by the exchange that has them all, one body."""

    def __init__(self, connection: Connection, size: int) -> None:
        self.connection, self.body = connection, os.urandom(size)

    def publish(self, queue: str | bytes, properties: Properties, *, mandatory: bool) -> None:
        """Send one message; raises ``Lost``."""
        published = codec.publish("", queue, mandatory=mandatory)
        method = codec.method(CHANNEL, codec.PUBLISH, published)
        frame_max = self.connection.frame_max
        content = codec.content(CHANNEL, properties.encode(), self.body, frame_max)
        self.connection.send(method + content)


def consume(connection: Connection, queue: str | bytes, *, automatic: bool) -> None:
    """Ask for the messages of a queue, which count as acknowledged when they are ``automatic``."""
    wanted = b"\0\0" + short(queue) + short("c") + bytes([NO_ACK if automatic else 0])
    connection.call(CHANNEL, codec.CONSUME, wanted + table({}), codec.CONSUME_OK)


def tag_of(method: bytes) -> bytes:
    """The tag of a delivery, as an acknowledgement has it."""
    reader = codec.Reader(method)
    reader.short()
    return struct.pack(">Q", reader.number("Q"))

"""What a process of requests is told, and how its messages are sent, and told from others."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mqperf_amqp_0_9_1.onhost import codec
from mqperf_amqp_0_9_1.onhost.closed_loop import CHANNEL, QueueOrders
from mqperf_amqp_0_9_1.onhost.codec import Properties
from mqperf_amqp_0_9_1.onhost.connection import Connection
from mqperf_numbered.onhost.orders import of_kind, read_orders


@dataclass(frozen=True, slots=True)
class Requests(QueueOrders):
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


def key_of(orders: Requests, begun: float) -> bytes:
    """The correlation-id of a request of this load that was begun then."""
    return f"{orders.run} {begun!r}".encode()


def begun_of(orders: Requests, key: bytes | None) -> float | None:
    """When a request with that correlation-id was begun; None for what is none of this load."""
    run, _, begun = (key or b"").partition(b" ")
    return float(begun) if run == str(orders.run).encode() else None


def consume(connection: Connection, queue: str | bytes, *, no_ack: bool) -> None:
    """Ask for the messages of a queue, which may come before the answer; raises ``Lost``."""
    wanted = codec.consume(queue, no_ack=no_ack)
    connection.send(codec.method(CHANNEL, codec.CONSUME, wanted))

"""The orders of a process of requests, and how its messages are sent and identified."""

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
    """The orders beyond queues: where replies go, and lengths of bodies."""

    reply_to: Literal["direct", "queue"]
    payload_bytes: int
    reply_bytes: int


def read(file: Path) -> Requests:
    """Read the orders of a file."""
    return of_kind(Requests, read_orders(file))


class Publisher:
    """Publishes a body to queues, by the default exchange."""

    def __init__(self, connection: Connection, size: int) -> None:
        self.connection, self.body = connection, os.urandom(size)

    def publish(self, queue: str | bytes, properties: Properties, *, mandatory: bool) -> None:
        """Send one message; raises ``Lost``."""
        publish = codec.publish("", queue, mandatory=mandatory)
        method = codec.method(CHANNEL, codec.PUBLISH, publish)
        frame_max = self.connection.frame_max
        content = codec.content(CHANNEL, properties.encode(), self.body, frame_max)
        self.connection.send(method + content)


def key_of(orders: Requests, begun: float) -> bytes:
    """Return the correlation-id of a request of this load, begun at that instant."""
    return f"{orders.run} {begun!r}".encode()


def begun_of(orders: Requests, key: bytes | None) -> float | None:
    """Return when the request with that correlation-id was begun; None if it is of another load."""
    run, _, begun = (key or b"").partition(b" ")
    return float(begun) if run == str(orders.run).encode() else None


def consume(connection: Connection, queue: str | bytes, *, no_ack: bool) -> None:
    """Consume from a queue; messages may come before the answer.  Raises ``Lost``."""
    arguments = codec.consume(queue, no_ack=no_ack)
    connection.send(codec.method(CHANNEL, codec.CONSUME, arguments))

"""A client whose threads have a queue of their own again and again."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mqperf_amqp_0_9_1.onhost import codec
from mqperf_amqp_0_9_1.onhost.closed_loop import CHANNEL, Client, OfQueues
from mqperf_amqp_0_9_1.onhost.codec import short, table
from mqperf_amqp_0_9_1.onhost.connection import Connection
from mqperf_numbered.onhost.orders import of_kind, read_orders

EXCHANGE = "amq.direct"
DURABLE, NO_WAIT_NOR_CONDITION = 0b10, b"\0"


@dataclass(frozen=True, slots=True)
class Declarations(OfQueues):
    """What a process is told beyond its queues: how often each is bound."""

    bindings: int


def read(file: Path) -> Declarations:
    """The orders in a file."""
    return of_kind(Declarations, read_orders(file))


class Declarer(Client[Declarations]):
    """Declares the queue of each thread, binds and deletes it."""

    noun = "declaration"

    def asking(self, connection: Connection, queue: str) -> Callable[[float], None]:
        """What has the queue once."""
        return lambda _begun: self._once(connection, queue)

    def _once(self, connection: Connection, queue: str) -> None:
        name = b"\0\0" + short(queue)
        declared = name + bytes([DURABLE]) + table(self.orders.queue_arguments)
        connection.call(CHANNEL, codec.QUEUE_DECLARE, declared, codec.QUEUE_DECLARE_OK)
        for number in range(self.orders.bindings):
            bound = name + short(EXCHANGE) + short(f"{queue}.{number}") + b"\0" + table({})
            connection.call(CHANNEL, codec.QUEUE_BIND, bound, codec.QUEUE_BIND_OK)
        deleted = name + NO_WAIT_NOR_CONDITION
        connection.call(CHANNEL, codec.QUEUE_DELETE, deleted, codec.QUEUE_DELETE_OK)

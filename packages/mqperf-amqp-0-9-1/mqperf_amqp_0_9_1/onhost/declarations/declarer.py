"""A client whose threads have a queue of their own again and again."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mqperf_amqp_0_9_1.onhost import codec
from mqperf_amqp_0_9_1.onhost.closed_loop import CHANNEL, Client, OfQueues
from mqperf_amqp_0_9_1.onhost.codec import short
from mqperf_amqp_0_9_1.onhost.connection import Connection
from mqperf_numbered.onhost.orders import of_kind, read_orders

EXCHANGE = "amq.direct"
NO_WAIT_NOR_CONDITION = b"\0"


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
        declared = codec.queue_declare(queue, self.orders.queue_arguments, durable=True)
        connection.call(CHANNEL, codec.QUEUE_DECLARE, declared, codec.QUEUE_DECLARE_OK)
        for number in range(self.orders.bindings):
            bound = codec.queue_bind(queue, EXCHANGE, f"{queue}.{number}")
            connection.call(CHANNEL, codec.QUEUE_BIND, bound, codec.QUEUE_BIND_OK)
        deleted = b"\0\0" + short(queue) + NO_WAIT_NOR_CONDITION
        connection.call(CHANNEL, codec.QUEUE_DELETE, deleted, codec.QUEUE_DELETE_OK)

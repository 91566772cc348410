"""A client whose threads have a queue of their own again and again."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mqperf_amqp_0_9_1.onhost import codec
from mqperf_amqp_0_9_1.onhost.closed_loop import CHANNEL, Client, QueueOrders
from mqperf_amqp_0_9_1.onhost.connection import Connection
from mqperf_numbered.onhost.orders import of_kind, read_orders

EXCHANGE = "amq.direct"


@dataclass(frozen=True, slots=True)
class Declarations(QueueOrders):
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
        connection.call(CHANNEL, codec.QUEUE_DECLARE, declared)
        for number in range(self.orders.bindings):
            bound = codec.queue_bind(queue, EXCHANGE, f"{queue}.{number}")
            connection.call(CHANNEL, codec.QUEUE_BIND, bound)
        connection.call(CHANNEL, codec.QUEUE_DELETE, codec.queue_delete(queue))

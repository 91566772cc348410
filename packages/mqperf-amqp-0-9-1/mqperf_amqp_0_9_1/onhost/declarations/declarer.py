"""A client whose threads declare, bind and delete a queue each, again and again."""

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
    """The orders of a process: its queues, and how often each is bound."""

    bindings: int


def read(file: Path) -> Declarations:
    """Read the orders of a file."""
    return of_kind(Declarations, read_orders(file))


class Declarer(Client[Declarations]):
    """Declares, binds and deletes the queue of each thread."""

    noun = "declaration"

    def requesting(self, connection: Connection, queue: str) -> Callable[[float], None]:
        """Return a function that declares, binds and deletes the queue once."""
        return lambda _begun: self._once(connection, queue)

    def _once(self, connection: Connection, queue: str) -> None:
        declare = codec.queue_declare(queue, self.orders.queue_arguments, durable=True)
        connection.call(CHANNEL, codec.QUEUE_DECLARE, declare)
        for number in range(self.orders.bindings):
            bind = codec.queue_bind(queue, EXCHANGE, f"{queue}.{number}")
            connection.call(CHANNEL, codec.QUEUE_BIND, bind)
        connection.call(CHANNEL, codec.QUEUE_DELETE, codec.queue_delete(queue))

"""A client: threads with a connection each, which have a queue of their own again and again."""

import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from mqperf.onhost.load.control import Control
from mqperf_amqp_0_9_1.onhost import codec
from mqperf_amqp_0_9_1.onhost.codec import short, table
from mqperf_amqp_0_9_1.onhost.connection import Connection
from mqperf_numbered.onhost.broker import Lost, Refused
from mqperf_numbered.onhost.closed_loop import ClosedLoop
from mqperf_numbered.onhost.orders import Orders, of_kind, read_orders

EXCHANGE = "amq.direct"
DURABLE, NO_WAIT_NOR_CONDITION = 0b10, b"\0"
CHANNEL = 1


@dataclass(frozen=True, slots=True)
class Declarations(Orders):
    """What a process is told: the queue of each thread, what it is, and how often it is bound."""

    queues: tuple[str, ...]
    queue_arguments: dict[str, Any]
    bindings: int


def read(file: Path) -> Declarations:
    """The orders in a file."""
    return of_kind(Declarations, read_orders(file))


class Declarer:
    """One process, from its start to the record that it leaves."""

    def __init__(self, orders: Declarations) -> None:
        self.orders = orders
        self.control = Control(orders.control, orders.label)
        self.control.heed_signals()
        header = {name: getattr(orders, name) for name in ("label", "kind", "test_case")}
        self.loop = ClosedLoop(self.control, header)

    def run(self) -> None:
        """Declare until the load ends."""
        threads = [partial(self._thread, queue) for queue in self.orders.queues]
        self.loop.run(self.orders.load_s, threads)

    def save(self) -> None:
        """Write what is known."""
        self.loop.record.save(self.orders.out / f"{self.orders.label}.messages")

    def _thread(self, queue: str) -> None:
        connection: Connection | None = None
        while self.loop.goes_on():
            begun = self.loop.begin()
            try:
                connection = connection or self._connected()
                self._once(connection, queue)
            except (Lost, Refused) as error:
                sys.stdout.write(f"a declaration failed: {error}\n")
                _close(connection)
                connection = None
                self.loop.failed(begun)
            else:
                self.loop.done(begun)
        _close(connection)

    def _connected(self) -> Connection:
        connection = Connection(self.orders.broker)
        connection.socket.settimeout(self.orders.timeout_s)
        connection.open_channel(CHANNEL)
        return connection

    def _once(self, connection: Connection, queue: str) -> None:
        """Declare the queue, bind and delete it; raises ``Lost`` or ``Refused``."""
        name = b"\0\0" + short(queue)
        declared = name + bytes([DURABLE]) + table(self.orders.queue_arguments)
        connection.call(CHANNEL, codec.QUEUE_DECLARE, declared, codec.QUEUE_DECLARE_OK)
        for number in range(self.orders.bindings):
            bound = name + short(EXCHANGE) + short(f"{queue}.{number}") + b"\0" + table({})
            connection.call(CHANNEL, codec.QUEUE_BIND, bound, codec.QUEUE_BIND_OK)
        deleted = name + NO_WAIT_NOR_CONDITION
        connection.call(CHANNEL, codec.QUEUE_DELETE, deleted, codec.QUEUE_DELETE_OK)


def _close(connection: Connection | None) -> None:
    if connection is not None:
        with suppress(OSError):
            connection.close(1.0)

"""Processes and connections of a closed loop, whose clients wait for the reply to each request."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from mqperf.onhost.load.capped_log import capped_output
from mqperf.onhost.load.control import Control
from mqperf.onhost.load.record import Record
from mqperf_amqp_0_9_1.onhost.connection import Connection
from mqperf_numbered.onhost.broker import Lost, Refused
from mqperf_numbered.onhost.closed_loop import ClosedLoop
from mqperf_numbered.onhost.orders import Orders

CHANNEL = 1


@dataclass(frozen=True, slots=True)
class QueueOrders(Orders):
    """The orders of a process: the queue of each thread, and the arguments of queues."""

    queues: tuple[str, ...]
    queue_arguments: dict[str, Any]


Q = TypeVar("Q", bound=QueueOrders)


class Process(ABC, Generic[Q]):
    """One process, and the ``record`` that it writes, with the ``header``."""

    record: Record

    def __init__(self, orders: Q) -> None:
        self.orders = orders
        self.control = Control(orders.control, orders.label)
        self.control.heed_signals()
        names = ("label", "kind", "test_case")
        self.header: dict[str, object] = {name: getattr(orders, name) for name in names}

    @abstractmethod
    def run(self) -> None:
        """Run until the end of the load."""


class Client(Process[Q]):
    """A client whose threads send one request after the other; ``noun`` is what they request."""

    noun: str

    def __init__(self, orders: Q) -> None:
        super().__init__(orders)
        self.loop = ClosedLoop(self.control, self.header)
        self.record = self.loop.record

    def run(self) -> None:
        """Send requests until the load ends."""
        threads = [partial(self._thread, queue) for queue in self.orders.queues]
        self.loop.run(self.orders.load_s, threads)

    @abstractmethod
    def requesting(self, connection: Connection, queue: str) -> Callable[[float], None]:
        """Return a function that sends a request begun at an instant, and waits for its reply.

        Both raise ``Lost`` or ``Refused``; the connection is new.
        """

    def _thread(self, queue: str) -> None:
        connection: Connection | None = None
        request: Callable[[float], None]
        while self.loop.goes_on():
            begun = self.loop.begin()
            try:
                if connection is None:
                    connection = connected(self.orders)
                    request = self.requesting(connection, queue)
                request(begun)
            except (Lost, Refused) as error:
                sys.stdout.write(f"a {self.noun} failed: {error}\n")
                closed(connection)
                connection = None
                self.loop.failed(begun)
            else:
                self.loop.done(begun)
        closed(connection)


def connected(orders: Orders) -> Connection:
    """Open a connection with a channel, and the plan's timeout for every operation."""
    connection = Connection(orders.broker)
    connection.socket.settimeout(orders.timeout_s)
    connection.open_channel(CHANNEL)
    return connection


def closed(connection: Connection | None) -> None:
    """Close a connection, if there is one, to a broker that may be gone."""
    if connection is not None:
        with suppress(OSError):
            connection.close(1.0)


@capped_output()
def live(program: Callable[[], Process[Any]]) -> None:
    """Run a program with a capped log; its record is always saved."""
    process = program()
    try:
        process.run()
    finally:
        process.record.save(process.orders.out / f"{process.orders.label}.messages")

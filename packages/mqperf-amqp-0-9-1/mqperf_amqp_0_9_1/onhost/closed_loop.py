"""A load whose clients wait for each thing that they ask for: its processes and connections."""

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
    """What a process is told: the queue of each thread, and the arguments that it has."""

    queues: tuple[str, ...]
    queue_arguments: dict[str, Any]


Told = TypeVar("Told", bound=QueueOrders)


class Process(ABC, Generic[Told]):
    """One process, from its start to the ``record`` that it leaves, which has the ``header``."""

    record: Record

    def __init__(self, orders: Told) -> None:
        self.orders = orders
        self.control = Control(orders.control, orders.label)
        self.control.heed_signals()
        names = ("label", "kind", "test_case")
        self.header: dict[str, object] = {name: getattr(orders, name) for name in names}

    @abstractmethod
    def run(self) -> None:
        """From its start to its end."""


class Client(Process[Told]):
    """A client whose threads ask for one thing after the other, each a ``noun``."""

    noun: str

    def __init__(self, orders: Told) -> None:
        super().__init__(orders)
        self.loop = ClosedLoop(self.control, self.header)
        self.record = self.loop.record

    def run(self) -> None:
        """Ask until the load ends."""
        threads = [partial(self._thread, queue) for queue in self.orders.queues]
        self.loop.run(self.orders.load_s, threads)

    @abstractmethod
    def asking(self, connection: Connection, queue: str) -> Callable[[float], None]:
        """What asks on a new connection, and returns when what was begun then is done.

        Both raise ``Lost`` or ``Refused``.
        """

    def _thread(self, queue: str) -> None:
        connection: Connection | None = None
        ask: Callable[[float], None]
        while self.loop.goes_on():
            begun = self.loop.begin()
            try:
                if connection is None:
                    connection = connected(self.orders)
                    ask = self.asking(connection, queue)
                ask(begun)
            except (Lost, Refused) as error:
                sys.stdout.write(f"a {self.noun} failed: {error}\n")
                closed(connection)
                connection = None
                self.loop.failed(begun)
            else:
                self.loop.done(begun)
        closed(connection)


def connected(orders: Orders) -> Connection:
    """A connection with a channel, on which nothing takes longer than the plan's timeout."""
    connection = Connection(orders.broker)
    connection.socket.settimeout(orders.timeout_s)
    connection.open_channel(CHANNEL)
    return connection


def closed(connection: Connection | None) -> None:
    """Say goodbye to a broker that may be gone."""
    if connection is not None:
        with suppress(OSError):
            connection.close(1.0)


@capped_output()
def live(program: Callable[[], Process[Any]]) -> None:
    """Run the program under a capped log; what it recorded is saved whatever happens."""
    process = program()
    try:
        process.run()
    finally:
        process.record.save(process.orders.out / f"{process.orders.label}.messages")

"""A server whose threads consume, each on a connection of its own."""

from collections.abc import Callable
from typing import Any

from mqperf.onhost.load.control import Control
from mqperf_numbered.onhost.arrivals import Arrivals
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.managed_connections import ManagedConnection, ManagedConnections
from mqperf_numbered.onhost.orders import A, Thread
from mqperf_numbered.onhost.record import Record
from mqperf_numbered.onhost.roles import Server
from mqperf_numbered.onhost.waiting import Waiting

Inlet = ManagedConnection[Any]


class Consumer(Server[Inlet]):
    """All connections of a server process, from connecting to the end of the drain."""

    def __init__(
        self,
        inlet: Callable[[A, Thread, "Consumer", Waiting, Diary], Inlet],
        orders: A,
        control: Control,
        record: Record,
        diary: Diary,
    ) -> None:
        waiting = Waiting(exact=False)
        inlets = [inlet(orders, thread, self, waiting, diary) for thread in orders.threads]
        connections, arrivals = ManagedConnections(waiting, inlets), Arrivals(record, orders)
        super().__init__(control, connections, arrivals, diary, orders.consume_after_s)

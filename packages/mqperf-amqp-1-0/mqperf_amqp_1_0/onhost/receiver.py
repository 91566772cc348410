"""A server: receives from the addresses of its threads, and records every message."""

import time
from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from mqperf.onhost.load.control import Control
from mqperf_amqp_1_0.onhost import links
from mqperf_amqp_1_0.onhost.codec import Described
from mqperf_amqp_1_0.onhost.connection import Connection
from mqperf_amqp_1_0.onhost.orders import Orders
from mqperf_amqp_1_0.onhost.transfers import Batch, Transfers
from mqperf_numbered.onhost.arrivals import Arrivals
from mqperf_numbered.onhost.diary import Diary
from mqperf_numbered.onhost.managed_connections import ManagedConnection, ManagedConnections
from mqperf_numbered.onhost.orders import Thread
from mqperf_numbered.onhost.record import Numbers, Record
from mqperf_numbered.onhost.roles import Server
from mqperf_numbered.onhost.schedule import NS
from mqperf_numbered.onhost.waiting import Waiting, shares


class Source:
    """A link from which messages come: its delivery ``count``, and the ``left`` of its credit."""

    def __init__(self, handle: int, count: int, credit: int) -> None:
        self.handle, self.count, self.credit, self.left = handle, count, credit, 0

    def replenished(self, connection: Connection) -> bytes:
        """Return a flow with full credit if half of it is used up, else nothing."""
        if self.left > self.credit // 2:
            return b""
        self.left = self.credit
        return links.flow(connection, self.handle, self.count, self.credit)


class Inlet(ManagedConnection[Connection]):
    """A connection with a link from the address of each of some threads."""

    def __init__(
        self,
        orders: Orders,
        threads: Sequence[Thread],
        server: "Receiver",
        waiting: Waiting,
        diary: Diary,
    ) -> None:
        self.orders, self.threads, self.server = orders, threads, server
        super().__init__(waiting, diary, partial(Connection, orders.broker))

    def prepare(self, connection: Connection) -> None:
        """Attach all links, and then give credit."""
        self.on = connection
        self.transfers = Transfers(connection, self._take, connection.attend)
        self.sources: dict[int, Source] = {}
        self.to_accept: list[Numbers] = []
        for handle, thread in enumerate(self.threads):
            link = links.Wanted(handle, thread.address, sends=False, settled=self.orders.settled)
            answer = links.attached(connection, link, _ignore)
            initial_count = answer.field(9)
            source = Source(handle, initial_count or 0, self.orders.credit)
            self.sources[answer.field(1)] = source
        self.consume()

    def read(self, _connection: Connection) -> None:
        """Handle all frames that have come whole."""
        self.transfers.read()
        self.consume()

    def _take(self, batch: Batch) -> None:
        """Record deliveries, and collect those that are to be accepted."""
        source = self.sources[batch.handle]
        source.count += len(batch.ids)
        source.left -= len(batch.ids)
        if not batch.settled:
            self.to_accept.append(batch.ids)
        self.server.take(batch)

    def consume(self) -> None:
        """Accept what has come, with as few frames as possible, and give credit if it is time."""
        sources = self.sources.values() if self.server.consuming else ()
        frames = [source.replenished(self.on) for source in sources]
        if self.to_accept:
            frames += [
                links.accepted(*stretch) for stretch in stretches(np.concatenate(self.to_accept))
            ]
            self.to_accept = []
        if content := b"".join(frames):
            self.on.send(content)


def _ignore(_flow: Described) -> None:
    """Ignore a sender's flow."""


def stretches(ids: Numbers) -> list[tuple[int, int]]:
    """Return first and last of each run of consecutive ids."""
    breaks = np.flatnonzero(np.diff(ids) != 1) + 1
    bounds = [0, *breaks.tolist(), len(ids)]
    return [(int(ids[first]), int(ids[end - 1])) for first, end in pairwise(bounds)]


class Receiver(Server[Inlet]):
    """All connections of a server process, from the first link to the end of the drain."""

    def __init__(self, orders: Orders, control: Control, record: Record, diary: Diary) -> None:
        waiting = Waiting(exact=False)
        inlets = [
            Inlet(orders, share, self, waiting, diary)
            for share in shares(orders.threads, orders.links)
        ]
        connections, arrivals = ManagedConnections(waiting, inlets), Arrivals(record, orders)
        super().__init__(control, connections, arrivals, diary, orders.consume_after_s)

    def take(self, batch: Batch) -> None:
        """Record deliveries."""
        sender = batch.stamp["sender"].astype(np.int64)
        self.arrivals.take(batch.stamp, sender, time.time_ns() / NS)

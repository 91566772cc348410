"""The orders of one process: beside those of all loads, its flows or the queues it consumes."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mqperf_amqp_0_9_1.onhost.codec import Table
from mqperf_numbered.onhost import orders
from mqperf_numbered.onhost.broker import Broker

HEARTBEAT_S = 60
"""The default of ``heartbeat_timeout_threshold`` of oslo.messaging."""

BUFFER_BYTES = 1 << 15
"""Read buffer of a node's connection: small, as there are many connections with little traffic."""


@dataclass(frozen=True, slots=True)
class Flow:
    """Messages of one kind between one node and the controllers, or to all nodes.

    ``body`` is the index of the body; ``copies`` is how many nodes get each message, 0 for one.
    """

    number: int
    exchange: str
    routing_key: str
    rate: float
    phase: float
    body: int
    copies: int


@dataclass(frozen=True, slots=True)
class Box:
    """A queue that is consumed; ``copy`` is the number of the fan-out copies that it gets."""

    queue: str
    exchange: str
    exchange_type: str
    routing_key: str
    copy: int


@dataclass(frozen=True, slots=True)
class Orders(orders.Orders):
    """The orders of a process; each group of ``senders`` or ``boxes`` shares a connection."""

    nodes: int
    processes: int
    queue_arguments: Table
    senders: tuple[tuple[Flow, ...], ...] = ()
    boxes: tuple[tuple[Box, ...], ...] = ()
    bodies: tuple[str, ...] = ()

    def place(self, flow: int, copy: int = 0) -> int:
        """Return the sender number of a flow, or of the copies of its messages for one node."""
        return flow * (self.nodes + 1) + copy

    def sender(self, place: int) -> str:
        """Return the name for a sender number: ``client-1.12``, or ``client-1.12@3`` for a copy."""
        flow, copy = divmod(place, self.nodes + 1)
        process = flow % self.nodes % self.processes + 1
        name = f"client-{process}.{flow + 1}"
        return f"{name}@{copy}" if copy else name


def read(file: Path) -> Orders:
    """Read the orders in a file."""
    values = orders.read_orders(
        file, partial(Broker, heartbeat_s=HEARTBEAT_S, buffer_bytes=BUFFER_BYTES)
    )
    del values["threads_per_process"], values["all_threads"]  # they are the nodes' connections here
    for name, kind in (("senders", Flow), ("boxes", Box)):
        groups = values.get(name, [])
        values[name] = tuple(tuple(kind(**entry) for entry in group) for group in groups)
    values["bodies"] = tuple(values.get("bodies", ()))
    return Orders(**values)

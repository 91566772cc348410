"""What one process is told beyond what all are: its flows, or the queues that it consumes."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mqperf_amqp_0_9_1.onhost.codec import Table
from mqperf_numbered.onhost import orders
from mqperf_numbered.onhost.broker import Broker

HEARTBEAT_S = 60
"""The default of ``heartbeat_timeout_threshold`` of oslo.messaging."""

BUFFER_BYTES = 1 << 15
"""What a connection of a node takes in at once: there are many, and little comes."""


@dataclass(frozen=True, slots=True)
class Flow:
    """Messages of one kind between one node and the controllers, or to all nodes.

    ``body`` is the place of its body; ``copies`` is how many nodes get each, and 0 where one does.
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
    """A queue that is consumed; ``copy`` says which of the copies of a fan-out come there."""

    queue: str
    exchange: str
    exchange_type: str
    routing_key: str
    copy: int


@dataclass(frozen=True, slots=True)
class Orders(orders.Orders):
    """All that a process is told; of senders and boxes, each group has a connection."""

    nodes: int
    processes: int
    queue_arguments: Table
    senders: tuple[tuple[Flow, ...], ...] = ()
    boxes: tuple[tuple[Box, ...], ...] = ()
    bodies: tuple[str, ...] = ()

    def place(self, flow: int, copy: int = 0) -> int:
        """The number that stands for a flow, or for those of its messages that one node gets."""
        return flow * (self.nodes + 1) + copy

    def sender(self, place: int) -> str:
        """The name of what has that place: ``client-1.12``, or ``client-1.12@3`` of a copy."""
        flow, copy = divmod(place, self.nodes + 1)
        process = flow % self.nodes % self.processes + 1
        name = f"client-{process}.{flow + 1}"
        return f"{name}@{copy}" if copy else name


def read(file: Path) -> Orders:
    """The orders in a file."""
    values = orders.read_orders(
        file, partial(Broker, heartbeat_s=HEARTBEAT_S, buffer_bytes=BUFFER_BYTES)
    )
    del values["threads_per_process"], values["all_threads"]  # they are the nodes' connections here
    for name, kind in (("senders", Flow), ("boxes", Box)):
        groups = values.get(name, [])
        values[name] = tuple(tuple(kind(**entry) for entry in group) for group in groups)
    values["bodies"] = tuple(values.get("bodies", ()))
    return Orders(**values)

"""The orders of one process: its threads, and the properties of their links."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mqperf_numbered.onhost.orders import AddressOrders, with_threads


@dataclass(frozen=True, slots=True)
class Orders(AddressOrders):
    """All orders of a process: parameters of the plan by name, and the threads."""

    payload_spread: float | None
    links: int
    settlement: Literal["at-least-once", "pre-settled"]
    credit: int
    delivery: Literal["transient", "persistent"]
    priority: int | None
    ttl_ms: int | None

    @property
    def settled(self) -> bool:
        """Whether senders settle messages, and never learn their outcome."""
        return self.settlement == "pre-settled"

    @property
    def durable(self) -> bool:
        """Whether messages are to be written to disk."""
        return self.delivery == "persistent"


def read(file: Path) -> Orders:
    """Read the orders of a file."""
    return with_threads(Orders, file)

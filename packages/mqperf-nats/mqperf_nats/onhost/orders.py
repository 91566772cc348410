"""What one process is told beyond what all are: its threads, and how they publish and consume."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mqperf_numbered.onhost.orders import OfThreads, of_kind, read_orders


@dataclass(frozen=True, slots=True)
class Thread:
    """A publisher, and the subscriber beside it: its number over all processes, their subject."""

    number: int
    subject: str


@dataclass(frozen=True, slots=True)
class Orders(OfThreads):
    """All that a process is told: keys of the plan by their names, and the threads.

    ``storage`` and ``replicas`` are those of streams; without a storage there are none.
    """

    threads: tuple[Thread, ...]
    storage: Literal["memory", "file"] | None
    replicas: int
    confirms: int
    acks: Literal["each", "multiple"]
    prefetch: int

    @property
    def window(self) -> int:
        """Messages of a thread that may wait for their confirm; 0 where none are asked for."""
        return 0 if self.storage is None else self.confirms


def read(file: Path) -> Orders:
    """The orders in a file."""
    values = read_orders(file)
    values["threads"] = tuple(Thread(**thread) for thread in values["threads"])
    return of_kind(Orders, values)

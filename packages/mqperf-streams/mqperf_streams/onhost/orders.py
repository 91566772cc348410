"""What one process is told beyond what all are: its threads, and where consumers begin."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mqperf_numbered.onhost.orders import OfThreads, of_kind, read_orders


@dataclass(frozen=True, slots=True)
class Thread:
    """A publisher, and the consumer of its stream: its number over all processes."""

    number: int
    stream: str


@dataclass(frozen=True, slots=True)
class Orders(OfThreads):
    """All that a process is told: keys of the plan by their names, and the threads."""

    threads: tuple[Thread, ...]
    confirms: int
    offset: Literal["first", "last", "next"]
    chunk_credit: int


def read(file: Path) -> Orders:
    """The orders in a file."""
    values = read_orders(file)
    values["threads"] = tuple(Thread(**thread) for thread in values["threads"])
    return of_kind(Orders, values)

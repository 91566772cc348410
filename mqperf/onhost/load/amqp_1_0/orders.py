"""What one process is told beyond what all are: its threads, and how their links are."""

from dataclasses import dataclass
from pathlib import Path

from mqperf.onhost.load.numbered.orders import OfThreads, told


@dataclass(frozen=True, slots=True)
class Thread:
    """A sender, and the receiver of what it sends: its number over all processes, its address."""

    number: int
    address: str


@dataclass(frozen=True, slots=True)
class Orders(OfThreads):
    """All that a process is told; ``links`` threads share a connection.

    Lengths of bodies differ from ``payload_bytes`` by up to a share of ``payload_spread``.
    """

    threads: tuple[Thread, ...]
    payload_spread: float
    links: int
    settled: bool
    credit: int
    durable: bool
    priority: int | None
    ttl_ms: int | None


def read(file: Path) -> Orders:
    """The orders in a file."""
    found = told(file)
    found["threads"] = tuple(Thread(**one) for one in found["threads"])
    return Orders(**found)

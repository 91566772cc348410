"""What one process of a replay is told beyond what those of the load ``amqp-0-9-1`` are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from mqperf_amqp_0_9_1.onhost import orders


class Route(TypedDict):
    """How many messages a route has in each second of the profile, and how many of each length."""

    per_second: Sequence[int]
    lengths: Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Orders(orders.Orders):
    """All that a process is told; its ``threads`` send the ``routes`` of the same places.

    ``tenths`` count the messages of all routes in tenths of a second.  One client has the
    ``profile`` itself, and leaves it beside what it records.
    """

    routes: Sequence[Route]
    all_routes: int
    tenths: Sequence[int]
    speed: float
    scale: float
    profile: str | None

    @property
    def places(self) -> int:
        """One for each copy of a message: what one queue of a route gets, ``client-1.2@3``."""
        return self.copies

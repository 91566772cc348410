"""The orders of one process of a replay, beyond those of the load ``amqp-0-9-1``."""

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
    """All orders of a process; each of its ``threads`` sends the route of the same index.

    ``tenths`` count the messages of all routes in tenths of a second.  One client has the
    ``profile`` itself, and writes it beside its record.
    """

    routes: Sequence[Route]
    all_routes: int
    tenths: Sequence[int]
    speed: float
    scale: float
    profile: str | None

    @property
    def places(self) -> int:
        """Senders of a route in the record: one for each queue, such as ``client-1.2@3``."""
        return self.copies

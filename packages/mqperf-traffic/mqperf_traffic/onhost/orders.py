"""What one process of a replay is told beyond what those of the load ``amqp-0-9-1`` are."""

from collections.abc import Sequence
from dataclasses import dataclass

from mqperf_amqp_0_9_1.onhost import orders
from mqperf_amqp_0_9_1.onhost.orders import Thread


@dataclass(frozen=True, slots=True)
class Route:
    """How many messages a route has in each second of the profile, and how many of each length."""

    per_second: Sequence[int]
    lengths: Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Orders(orders.Orders):
    """All that a process is told: each of its threads is a route of the profile.

    ``tenths`` count the messages of all routes in tenths of a second.  One client has the
    ``profile`` itself, and leaves it beside what it records.
    """

    routes: Sequence[dict[str, Sequence[int]]]
    all_routes: int
    tenths: Sequence[int]
    speed: float
    scale: float
    profile: str | None

    def route(self, thread: Thread) -> Route:
        """That of a thread."""
        return Route(**self.routes[thread.number % self.threads_per_process])  # type: ignore[arg-type]

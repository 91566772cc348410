"""What one process is told beyond what all are: how its threads publish and consume."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from mqperf_numbered.onhost.orders import PairOrders


@dataclass(frozen=True, slots=True)
class Orders(PairOrders):
    """All that a process is told: keys of the plan by their names, and threads with subjects.

    ``stream`` is what JetStream is told of streams; without it there are none.
    """

    stream: Mapping[str, Any] | None
    acks: Literal["each", "multiple"]
    prefetch: int

"""The orders of one process: how its threads publish and consume."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from mqperf_numbered.onhost.orders import PairOrders


@dataclass(frozen=True, slots=True)
class Orders(PairOrders):
    """All orders of a process: parameters of the plan by name, and threads with subjects.

    ``stream`` is the configuration of JetStream's streams; None for core NATS, without streams.
    """

    stream: Mapping[str, Any] | None
    acks: Literal["each", "multiple"]
    prefetch: int

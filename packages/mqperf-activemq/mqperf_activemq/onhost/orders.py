"""What one process is told beyond what all are: what it speaks, and how it consumes."""

from dataclasses import dataclass
from typing import Literal

from mqperf_numbered.onhost.orders import PairOrders

HEAD_BYTES = 256
"""What Artemis counts of a message beside its body, about, where it counts bytes."""


@dataclass(frozen=True, slots=True)
class Orders(PairOrders):
    """All that a process is told: keys of the plan by their names, and threads with queues."""

    protocol: Literal["stomp", "openwire", "artemis-core"]
    acks: Literal["each", "multiple"]
    prefetch: int
    delivery: Literal["transient", "persistent"]

    @property
    def persistent(self) -> bool:
        """Whether the broker writes messages to disk."""
        return self.delivery == "persistent"

    @property
    def window_bytes(self) -> int:
        """So many bytes as messages may wait for their acknowledgement."""
        return self.prefetch * (self.payload_bytes + HEAD_BYTES)

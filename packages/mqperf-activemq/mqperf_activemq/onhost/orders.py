"""The orders of one process: beside those of all loads, its protocol and how it consumes."""

from dataclasses import dataclass
from typing import Literal

from mqperf_numbered.onhost.orders import PairOrders

HEAD_BYTES = 256
"""About how many bytes Artemis counts for a message beside its body."""


@dataclass(frozen=True, slots=True)
class Orders(PairOrders):
    """The orders of a process: keys of the plan by their names, and threads with queues."""

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
        """Bytes of the messages that may await their acknowledgement."""
        return self.prefetch * (self.payload_bytes + HEAD_BYTES)

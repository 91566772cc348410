"""The orders of one process: threads with partitions, and where consumers begin."""

from dataclasses import dataclass
from typing import Literal

from mqperf_numbered.onhost.orders import PairOrders


@dataclass(frozen=True, slots=True)
class Orders(PairOrders):
    """All orders of a process: parameters of the plan by name, and threads with streams.

    With several ``partitions`` a thread has a super stream; each partition counts as a sender.
    """

    offset: Literal["first", "last", "next"]
    chunk_credit: int
    partitions: int

    def sender(self, place: int) -> str:
        """Return the name of a thread, or of a partition of its super stream: ``client-1.2-0``."""
        thread, partition = divmod(place, self.partitions)
        name = PairOrders.sender(self, thread)
        return name if self.partitions == 1 else f"{name}-{partition}"

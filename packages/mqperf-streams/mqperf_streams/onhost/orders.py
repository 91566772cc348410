"""What one process is told beyond what all are: threads with partitions, where consumers begin."""

from dataclasses import dataclass
from typing import Literal

from mqperf_numbered.onhost.orders import PairOrders


@dataclass(frozen=True, slots=True)
class Orders(PairOrders):
    """All that a process is told: keys of the plan by their names, and threads with streams.

    With several ``partitions`` a thread has a super stream of so many, each a sender of its own.
    """

    offset: Literal["first", "last", "next"]
    chunk_credit: int
    partitions: int

    def sender(self, place: int) -> str:
        """The name of a thread, or of a partition of its super stream: ``client-1.2-0``."""
        thread, partition = divmod(place, self.partitions)
        name = PairOrders.sender(self, thread)
        return name if self.partitions == 1 else f"{name}-{partition}"

"""What one process is told beyond what all are: its threads, and where consumers begin."""

from dataclasses import dataclass
from typing import Literal

from mqperf_numbered.onhost.orders import OfPairs


@dataclass(frozen=True, slots=True)
class Orders(OfPairs):
    """All that a process is told: keys of the plan by their names, and threads with streams."""

    offset: Literal["first", "last", "next"]
    chunk_credit: int

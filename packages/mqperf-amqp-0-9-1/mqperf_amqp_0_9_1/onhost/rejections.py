"""Chooses the deliveries that consumers reject, which are then delivered again."""

import numpy as np
from numpy.typing import NDArray

from mqperf_amqp_0_9_1.onhost.deliveries import Batch
from mqperf_numbered.onhost.diary import Diary

Chosen = NDArray[np.bool_]

REJECTED, REDELIVERED = "rejected", "redelivered"
"""Counts in a diary.  Dead letters are neither rejected nor counted as redelivered."""


class Rejections:
    """The rejections of a process: each delivery by chance, independent of earlier ones."""

    def __init__(self, share: float, seed: int, diary: Diary) -> None:
        self.share, self.diary = share, diary
        self.random = np.random.default_rng(seed)

    def chosen(self, batch: Batch, dead: Chosen) -> Chosen:
        """Return which deliveries to reject, of those that are not ``dead`` letters."""
        rejected: Chosen = (self.random.random(len(dead)) < self.share) & ~dead
        self.diary.count(REJECTED, int(rejected.sum()))
        self.diary.count(REDELIVERED, int((batch.again & ~dead).sum()))
        return rejected

"""Consumers that reject a share of their deliveries, each of which is to be delivered again."""

import numpy as np
from numpy.typing import NDArray

from mqperf_amqp_0_9_1.onhost.deliveries import Batch
from mqperf_numbered.onhost.diary import Diary

Chosen = NDArray[np.bool_]

REJECTED, REDELIVERED = "rejected", "redelivered"
"""What a diary counts.  Dead letters are neither rejected nor counted as delivered again."""


class Rejections:
    """Those of a process: each delivery by chance, whatever became of the message before."""

    def __init__(self, share: float, seed: int, diary: Diary) -> None:
        self.share, self.diary = share, diary
        self.random = np.random.default_rng(seed)

    def chosen(self, batch: Batch, dead: Chosen) -> Chosen:
        """Which deliveries are to be rejected, of those that are no ``dead`` letters."""
        rejected: Chosen = (self.random.random(len(dead)) < self.share) & ~dead
        self.diary.count(REJECTED, int(rejected.sum()))
        self.diary.count(REDELIVERED, int((batch.again & ~dead).sum()))
        return rejected

"""How latencies are distributed: percentiles, as far as there are messages enough to tell them."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from mqperf.record.streams.stream import Latencies
from mqperf.record.streams.telling import tells

RAREST = 6
"""Decades: the last percentile is the 99.9999th."""

SHARES_ABOVE = (
    0.5,
    *(
        round(part * 10.0**-decade, 9)
        for decade in range(1, RAREST)
        for part in (3, 2, 1.5, 1, 0.5)
    ),
    10.0**-RAREST,
)
"""Shares of the messages that are slower: five in every decade, so that a curve is smooth."""


def percentiles(stream: str, latencies: Latencies) -> Iterator[dict[str, Any]]:
    """Rows of the table ``percentiles`` of one run, whose finished messages have these latencies.

    None for fewer than 20 messages, nor for latencies beyond an hour, which counts do not tell.
    """
    every = [round(1 - share, 9) for share in SHARES_ABOVE]
    levels = [level for level in every if tells(latencies.count, level)]
    if not levels:
        return
    for level, value in zip(levels, latencies.quantiles_s(levels), strict=True):
        if not np.isnan(value):
            yield {
                "stream": stream,
                "samples": latencies.count,
                "percentile": level,
                "latency_s": float(value),
            }

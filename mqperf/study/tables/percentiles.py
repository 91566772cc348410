"""The table ``percentiles``: those for which there are enough messages."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from mqperf.record.streams.stream import Latencies
from mqperf.record.streams.telling import tells

DECADES = 6
"""Decades of shares: the last percentile is the 99.9999th."""

SHARES_ABOVE = (
    0.5,
    *(
        round(multiple * 10.0**-decade, 9)
        for decade in range(1, DECADES)
        for multiple in (3, 2, 1.5, 1, 0.5)
    ),
    10.0**-DECADES,
)
"""Shares of slower messages: five in every decade, so that a curve is smooth."""


def percentiles(stream: str, latencies: Latencies) -> Iterator[dict[str, Any]]:
    """Rows of the table ``percentiles`` of one run, whose finished messages have these latencies.

    None for fewer than 20 messages, nor for latencies above an hour, which counts do not resolve.
    """
    all_levels = [round(1 - share, 9) for share in SHARES_ABOVE]
    levels = [level for level in all_levels if tells(latencies.count, level)]
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

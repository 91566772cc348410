"""How latencies are distributed: percentiles, as far as there are messages enough to tell them.

A percentile is told from ten messages beyond it: of fewer, the next run would have others.  That is
the same for every record; where counts are recorded, latencies are known to three digits.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from mqperf.record.streams.stream import Latencies

BEYOND = 10
"""Messages that must be slower than a percentile."""

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
    above = [share for share in SHARES_ABOVE if round(latencies.count * share, 6) >= BEYOND]
    if not above:
        return
    levels = [round(1 - share, 9) for share in above]
    for level, value in zip(levels, latencies.quantiles_s(levels), strict=True):
        if not np.isnan(value):
            yield {
                "stream": stream,
                "samples": latencies.count,
                "percentile": level,
                "latency_s": float(value),
            }

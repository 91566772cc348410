"""How many messages it takes to tell a percentile of their latencies.

A percentile is told from ten messages beyond it: of fewer, the next run would have others.  That is
the same for every record; where counts are recorded, latencies are known to three digits.
"""

from collections.abc import Sequence
from math import nan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mqperf.record.streams.stream import Latencies

BEYOND = 10
"""Messages that must be slower than a percentile."""


def tells(count: int, level: float) -> bool:
    """Whether so many messages tell the percentile at a level, as 0.99."""
    return round(count * (1 - level), 6) >= BEYOND


def needed(level: float) -> int:
    """How many messages it takes to tell it."""
    return round(BEYOND / (1 - level))


def told_s(latencies: "Latencies", levels: Sequence[float]) -> list[float]:
    """The latencies at these levels; NaN where there are too few messages to tell."""
    values = latencies.quantiles_s(levels)
    count = latencies.count
    return [
        float(value) if tells(count, level) else nan
        for level, value in zip(levels, values, strict=True)
    ]

"""The number of messages that is needed to state a percentile of their latencies.

A percentile is stated from ten messages beyond it: with fewer it would vary too much between runs.
That holds for every kind of record; where counts are recorded, latencies have three digits.
"""

from collections.abc import Sequence
from math import nan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mqperf.record.streams.stream import Latencies

BEYOND = 10
"""Messages that must be slower than a percentile."""


def tells(count: int, level: float) -> bool:
    """Whether ``count`` messages suffice for the percentile at a level such as 0.99."""
    return round(count * (1 - level), 6) >= BEYOND


def needed(level: float) -> int:
    """Return the number of messages that the percentile at a level needs."""
    return round(BEYOND / (1 - level))


def told_s(latencies: "Latencies", levels: Sequence[float]) -> list[float]:
    """Return the latencies at these levels; NaN where there are too few messages."""
    values = latencies.quantiles_s(levels)
    count = latencies.count
    return [
        float(value) if tells(count, level) else nan
        for level, value in zip(levels, values, strict=True)
    ]

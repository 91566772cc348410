"""Histogram logs, version 1.3, as the Java tools of HdrHistogram write and read them.

A line per second: where it starts, how long it is, its largest latency in milliseconds, and its
histogram, compressed.  The lines are written here: hdrhistogram 0.10.8 for Python writes no start
time, divides maxima down to zero, and knows version 1.2 only.  It does encode histograms well.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from hdrh.codec import HdrCookieException, HdrLengthException
from hdrh.histogram import HdrHistogram

from mqperf.errors import TableError
from mqperf.series.hdr import DIGITS, HIGHEST_NS, LENGTH, LOWEST_NS, Histogram, highest_ns

LEGEND = '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'


@dataclass(frozen=True, slots=True)
class Interval:
    """A line of a log; ``start_s`` counts from the start that the log states."""

    start_s: float
    length_s: float
    histogram: Histogram


def write_log(path: Path, start: float, intervals: Iterable[Interval], comment: str) -> None:
    """Write a log that starts at the epoch second ``start``; the comment says what it is of."""
    instant = datetime.fromtimestamp(start, UTC).isoformat(timespec="milliseconds")
    lines = [
        *(f"#{line}" for line in comment.splitlines()),
        "#[Histogram log format version 1.3]",
        f"#[StartTime: {start:.3f} (seconds since epoch), {instant}]",
        LEGEND,
        *(_line(interval) for interval in intervals),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_log(path: Path) -> Iterator[Interval]:
    """The intervals of a log that was written here, or with the same range and digits.

    Raises ``TableError`` for a line that is none.
    """
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith(("#", '"')) or not line:
            continue
        try:
            start, length, _, encoded = line.rsplit(",", 3)
            yield Interval(float(start), float(length), decode(encoded))
        except (ValueError, HdrCookieException, HdrLengthException) as error:
            raise TableError(f"{path}:{number}: no line of a histogram log: {error}") from None


def encode(histogram: Histogram) -> str:
    """The histogram in the compressed form of version 2, as base64."""
    coder = HdrHistogram(LOWEST_NS, HIGHEST_NS, DIGITS)
    np.frombuffer(coder.counts, dtype=np.int64)[:] = histogram.counts
    coder.total_count, coder.max_value = histogram.total, _largest_ns(histogram)
    return str(coder.encode().decode("ascii"))


def decode(encoded: str) -> Histogram:
    """The histogram of its compressed form; raises ``ValueError`` for one of another range."""
    coder = HdrHistogram.decode(encoded)
    counts = np.frombuffer(coder.counts, dtype=np.int64).copy()
    if (coder.significant_figures, len(counts), coder.unit_magnitude) != (DIGITS, LENGTH, 9):
        raise ValueError("the histogram has another range or number of digits")
    return Histogram(counts)


def _line(interval: Interval) -> str:
    largest_ms = _largest_ns(interval.histogram) / 1e6
    times = f"{interval.start_s:.3f},{interval.length_s:.3f},{largest_ms:.3f}"
    return f"{times},{encode(interval.histogram)}"


def _largest_ns(histogram: Histogram) -> int:
    seen = np.flatnonzero(histogram.counts)
    return int(highest_ns(seen[-1:])[0]) if len(seen) else 0

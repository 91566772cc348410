"""Reads latency logs of Maestro: HdrHistogram logs, a line for each interval and connection.

Workers in Java count microseconds, workers in C milliseconds.  The file has no unit, but its
heading differs: in logs of C workers the second column is the end of the interval.
"""

from collections.abc import Iterator
from math import isfinite
from pathlib import Path

from mqperf.base.errors import TableError
from mqperf.record.streams.hdr_log import Interval
from mqperf.study.tables.given import MIB, text_of
from mqperf_imported.study.contradictions import LONGEST_S
from mqperf_imported.study.histograms import converted

LIMIT_BYTES = 256 * MIB
UNITS_S = {"Interval_Length": 1e-6, "EndTimestamp": 1e-3}
"""The unit of the values in seconds, by the heading of the second column."""


def read_hdr(file: Path) -> list[Interval]:
    """Return the intervals of the log in order of start; starts count from the first one's.

    Raises ``TableError`` with the number of a malformed line.
    """
    intervals = sorted(
        _intervals(file, text_of(file, file, LIMIT_BYTES)), key=lambda interval: interval.start_s
    )
    first = intervals[0].start_s if intervals else 0.0
    return [
        Interval(interval.start_s - first, interval.length_s, interval.histogram)
        for interval in intervals
    ]


def _intervals(file: Path, text: str) -> Iterator[Interval]:
    heading: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith('"'):
            heading = [name.strip('"') for name in line.split(",")]
        elif line and not line.startswith("#"):
            try:
                yield _interval(line, heading)
            except ValueError as error:
                raise TableError(f"{file}:{number}: no line of a latency log: {error}") from None


def _interval(line: str, heading: list[str]) -> Interval:
    if len(heading) != 4 or heading[1] not in UNITS_S:
        raise ValueError("its heading is not that of Maestro's workers")
    start, second, _, encoded = line.split(",")
    begin = float(start)
    length = float(second) - (begin if heading[1] == "EndTimestamp" else 0.0)
    if not (isfinite(begin) and 0 <= length <= LONGEST_S):
        raise ValueError("it is of no time")
    return Interval(begin, length, converted(encoded, UNITS_S[heading[1]]))

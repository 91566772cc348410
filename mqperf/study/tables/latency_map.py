"""Latency over time: message counts by latency class and by the second of the message's start.

Histograms of run folders are computed on request; imported runs have histogram logs beside the
tables, whose intervals may be longer than a second.
"""

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pandas as pd

from mqperf.onhost.record.hdr import highest_ns
from mqperf.record import runs
from mqperf.record.streams.hdr_log import Interval, read_log
from mqperf.study.tables.histograms import latency_histograms
from mqperf.study.tables.published_folder import is_published

CLASSES = 10
"""Latency classes per decade: the upper bound of a class is 26 % above its lower bound."""


def log_file(folder: Path, run: str) -> Path:
    """The histogram log of a run in a folder of published tables."""
    return folder / "hdr" / f"{quote(run, safe='')}.hlog"


def latency_map(folder: Path, run: str) -> pd.DataFrame:
    """A row for each second and latency class of a run in which there are messages.

    Columns: ``run``; ``start_s`` and ``end_s`` of the second, or longer interval, since the start
    of the window; ``from_s`` and ``below_s``, the bounds of the class; ``count``, its messages.  No
    rows for a run without a record of latencies over time.  Raises ``MqperfError`` when the record
    is damaged.
    """
    if is_published(folder):
        file = log_file(folder, run)
        intervals = [*read_log(file)] if file.is_file() else []
    else:
        chosen = next((attempt for attempt in runs(folder) if attempt.id == run), None)
        intervals = [] if chosen is None else latency_histograms(chosen)
    return _classed(intervals).assign(run=run)


def _classed(intervals: Sequence[Interval]) -> pd.DataFrame:
    rows = [row for interval in intervals for row in _rows(interval)]
    columns = ["start_s", "end_s", "from_s", "below_s", "count"]
    frame = pd.DataFrame(rows, columns=columns)
    # connections that were logged separately have intervals that differ by milliseconds
    return frame.groupby(columns[:-1], as_index=False).sum()


def _rows(interval: Interval) -> list[tuple[float, float, float, float, int]]:
    filled = np.flatnonzero(interval.histogram.counts)
    class_of_bucket = np.floor(np.log10(highest_ns(filled) / 1e9) * CLASSES).astype(int)
    classes, class_index = np.unique(class_of_bucket, return_inverse=True)
    counts = np.bincount(class_index, interval.histogram.counts[filled], len(classes))
    begin = float(round(interval.start_s))
    end = max(begin + 1, float(round(interval.start_s + interval.length_s)))
    return [
        (begin, end, 10 ** (number / CLASSES), 10 ** ((number + 1) / CLASSES), int(count))
        for number, count in zip(classes, counts, strict=True)
    ]

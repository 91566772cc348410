"""One stream of a ``.counts`` file, assembled from its lines and checked for consistency."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mqperf.onhost.record.hdr import highest_ns, indices, lowest_ns
from mqperf.record.counts_lines import SAME, CountedStream, FinishedIn, Second, StartedIn
from mqperf.record.streams.counted import Buckets, Counted, Finished, Started
from mqperf.record.streams.hdr_log import decode_sparse

BUCKETS_LIMIT = 2**27
"""Most buckets of all histograms of a stream, which then fit in the memory of ``.messages``."""

TIMED = 2
"""Number of columns of a stream whose messages have a latency."""


class Collected:
    """Collects the seconds of a stream; raises ``ValueError`` for contradictions."""

    def __init__(self, header: CountedStream) -> None:
        self.header = header
        self.name = header.name
        self.timed = len(header.columns) == TIMED
        self.started: dict[int, StartedIn] = {}
        self.finished: dict[int, FinishedIn] = {}
        self.buckets: list[tuple[int, NDArray[np.int64], NDArray[np.int64]]] = []
        self.filled = 0
        self.latest: int | None = None

    def add(self, row: Second) -> None:
        """Add the next second."""
        if self.latest is not None and row.second <= self.latest:
            raise ValueError(f"{self.name}: second {row.second} after second {self.latest}")
        self.latest = row.second
        if row.finished is not None:
            self.finished[row.second] = row.finished
        if row.started is not None:
            self.started[row.second] = row.started
            if row.started.histogram is not None:
                self._add_histogram(row.second, row.started)
        if (row.finished is not None and not self.timed) or (
            row.started is not None and (row.started.histogram is not None) != self.timed
        ):
            raise ValueError(f"{self.name}: latencies are missing, or the stream has none")

    def _add_histogram(self, second: int, row: StartedIn) -> None:
        index, count = decode_sparse(row.histogram or "")
        total = sum(count.tolist())  # Python integers, since crafted counts could overflow int64
        if total + row.beyond != row.count:
            raise ValueError(f"{row.count} messages, {total} of them in the histogram")
        if row.negative > sum(count[index == 0].tolist()):
            raise ValueError(f"{row.negative} latencies below zero, fewer in the first bucket")
        self.filled += len(index)
        if self.filled > BUCKETS_LIMIT:
            raise ValueError("the histograms are larger than any load can fill")
        extremes = [(row.min_s, index[:1])] + ([(row.max_s, index[-1:])] if not row.beyond else [])
        for latency, bucket in extremes if len(index) else []:
            if not np.array_equal(indices(np.array([latency]))[0], bucket):
                raise ValueError(f"a latency of {latency} s is not in its histogram")
        least, most = (float((edge(index) * count).sum()) / 1e9 for edge in (lowest_ns, highest_ns))
        slack = SAME * (1 + most)
        above = row.sum_s is not None and row.sum_s > most + slack and not row.beyond
        if above or (row.sum_s is not None and row.sum_s < least - slack and not row.negative):
            raise ValueError(f"the latencies in the histogram do not add up to {row.sum_s} s")
        self.buckets.append((second, index, count))

    def stream(self, start: float) -> Counted:
        """Return the whole stream, its seconds counted from the epoch second ``start``."""
        self._check_counts()
        seconds = sorted({*self.started, *self.finished})
        first = seconds[0] if seconds else 0
        length = seconds[-1] - first + 1 if seconds else 0
        started = _started(_Dense(self.started, first, length))
        counted = Counted(
            timed=self.timed,
            start=start + first,
            started=started,
            finished=_finished(_Dense(self.finished, first, length))
            if self.timed
            else _finished_at_start(started),
            buckets=self._buckets(first),
            latest=self.header.last,
        )
        self._check_last(start)
        if self.timed and self.header.count:
            self._check_latencies(counted)
        return counted

    def _buckets(self, first: int) -> Buckets:
        lengths = [len(index) for _, index, _ in self.buckets]
        empty = np.zeros(0, dtype=np.int64)
        second = np.array([number - first for number, _, _ in self.buckets], dtype=np.int64)
        return Buckets(
            np.repeat(second, lengths),
            np.concatenate([empty, *(index for _, index, _ in self.buckets)]),
            np.concatenate([empty, *(count for _, _, count in self.buckets)]),
        )

    def _check_counts(self) -> None:
        kinds: dict[str, Mapping[int, StartedIn | FinishedIn]] = {"started": self.started}
        if self.timed:
            kinds["finished"] = self.finished
        for kind, rows in kinds.items():
            total = sum(row.count for row in rows.values())
            if total != self.header.count:
                raise ValueError(
                    f"{self.name}: {self.header.count} messages by the header, {total} {kind}"
                )

    def _check_last(self, start: float) -> None:
        latest = max(self.finished if self.timed else self.started, default=None)
        by_header = None if self.header.last is None else int(np.floor(self.header.last - start))
        if by_header != latest:
            raise ValueError(f"{self.name}: the last message is not in the last second")

    def _check_latencies(self, counted: Counted) -> None:
        started, finished = counted.started, counted.finished
        sums = float(started.latency_sum_s.sum()), float(finished.latency_sum_s.sum())
        slack = SAME * (1 + float(np.abs(started.latency_sum_s).sum()))
        largest = float(started.latency_max_s.max()), float(finished.latency_max_s.max())
        if abs(sums[0] - sums[1]) > slack or largest[0] != largest[1]:
            raise ValueError(f"{self.name}: the latencies by start differ from those by finish")
        early = np.cumsum(finished.count) > np.cumsum(started.count)
        if early.any() and not counted.negative:
            raise ValueError(f"{self.name}: more messages were finished than had been started")


@dataclass(frozen=True, slots=True)
class _Dense:
    """Rows of some seconds, as arrays over all seconds from the first on."""

    rows: Mapping[int, Any]
    first: int
    length: int

    def values(self, name: str, default: float) -> NDArray[Any]:
        """Return a field of the rows; ``default`` where there is no row, or its field is None."""
        dense = np.full(self.length, default)
        numbers = {number: getattr(row, name) for number, row in self.rows.items()}
        filled = {number: value for number, value in numbers.items() if value is not None}
        dense[np.array(list(filled), dtype=np.int64) - self.first] = list(filled.values())
        return dense


def _started(rows: _Dense) -> Started:
    return Started(
        count=rows.values("count", 0),
        latency_sum_s=rows.values("sum_s", 0.0),
        latency_min_s=rows.values("min_s", np.inf),
        latency_max_s=rows.values("max_s", -np.inf),
        negative=rows.values("negative", 0),
        beyond=rows.values("beyond", 0),
    )


def _finished(rows: _Dense) -> Finished:
    count = rows.values("count", 0)
    first, last = rows.values("first_s", np.inf), rows.values("last_s", -np.inf)
    return Finished(
        count=count,
        latency_sum_s=rows.values("sum_s", 0.0),
        latency_max_s=rows.values("max_s", -np.inf),
        first_s=np.where((count > 0) & np.isinf(first), np.nan, first),
        last_s=np.where((count > 0) & np.isinf(last), np.nan, last),
    )


def _finished_at_start(started: Started) -> Finished:
    busy = started.count > 0
    return Finished(
        count=started.count,
        latency_sum_s=started.latency_sum_s,
        latency_max_s=started.latency_max_s,
        first_s=np.where(busy, np.nan, np.inf),
        last_s=np.where(busy, np.nan, -np.inf),
    )

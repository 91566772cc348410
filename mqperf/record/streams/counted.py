"""A stream recorded as counts and histograms of each second, without single messages.

Counts, sums and maxima are exact.  A latency is known to the three digits of its bucket, whose
middle stands for it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mqperf.onhost.record.hdr import LENGTH, Histogram, middle_s
from mqperf.record.streams.stream import Counts, Seconds, Summary, Values, Window, averaged, seconds


@dataclass(frozen=True, slots=True)
class Started:
    """Messages by the second in which they were started: each array has a value per second.

    Latencies are in seconds; ``beyond`` counts those above an hour, which have no bucket, and
    ``negative`` those below zero, which are in the first bucket.
    """

    count: Counts
    latency_sum_s: Values
    latency_min_s: Values
    latency_max_s: Values
    negative: Counts
    beyond: Counts


@dataclass(frozen=True, slots=True)
class Finished:
    """Messages by the second in which they were finished: each array has a value per second.

    ``first_s`` and ``last_s`` are when the first and the last finished, since the second began; NaN
    where unknown, infinite where there are no messages.
    """

    count: Counts
    latency_sum_s: Values
    latency_max_s: Values
    first_s: Values
    last_s: Values


S = TypeVar("S", Started, Finished)

NONE: Mapping[str, float] = {
    **dict.fromkeys(("latency_min_s", "first_s"), np.inf),
    **dict.fromkeys(("latency_max_s", "last_s"), -np.inf),
}
"""Values of a second without messages, by array name; all other arrays are sums and have 0."""

JOINS: Mapping[float, np.ufunc] = {0: np.add, np.inf: np.minimum, -np.inf: np.maximum}
"""The operation that combines arrays of several processes, by their value without messages."""


@dataclass(frozen=True, slots=True)
class Buckets:
    """The histograms of all seconds: ``count`` messages of ``second`` in the bucket ``index``."""

    second: Counts
    index: Counts
    count: Counts


@dataclass(frozen=True, slots=True)
class Counted:
    """A stream of one process; its seconds begin at ``start``, in epoch seconds.

    A stream that is not ``timed`` has no latencies; its messages finish when they are started.
    """

    timed: bool
    start: float
    started: Started
    finished: Finished
    buckets: Buckets
    latest: float | None

    @property
    def count(self) -> int:
        """As defined by `Stream`, like all of the following."""
        return int(self.started.count.sum())

    @property
    def end(self) -> float:
        """The end of the last second, in epoch seconds."""
        return self.start + len(self.started.count)

    @property
    def negative(self) -> int:
        """Messages that were finished before they were started."""
        return int(self.started.negative.sum())

    def last(self) -> float | None:
        """The latest finish."""
        return self.latest

    def summary(self) -> Summary | None:
        """Exact."""
        if not self.timed or not self.count:
            return None
        busy = self.started.count > 0
        return Summary(
            float(self.started.latency_sum_s.sum()) / self.count,
            float(self.started.latency_min_s[busy].min()),
            float(self.started.latency_max_s[busy].max()),
        )

    def per_second(self, window: Window) -> Counts:
        """Exact."""
        return cut(self.finished.count, self.start, window)

    def ends(self, window: Window) -> tuple[Values, Values]:
        """Return ``first_s`` and ``last_s`` of `Finished` for each second of the window."""
        return (
            cut(self.finished.first_s, self.start, window, np.inf),
            cut(self.finished.last_s, self.start, window, -np.inf),
        )

    def by_finish(self, window: Window) -> Seconds:
        """Exact."""
        counts = self.per_second(window)
        if not self.timed:
            unknown = np.full(len(counts), np.nan)
            return Seconds(counts, unknown, unknown)
        total = cut(self.finished.latency_sum_s, self.start, window)
        largest = cut(self.finished.latency_max_s, self.start, window, -np.inf)
        return averaged(counts, total, largest)

    def started_in(self, window: Window) -> "CountedLatencies":
        """The latencies by second of the window."""
        started, first = self.started, round(window[0] - self.start)
        second = self.buckets.second - first
        inside = (second >= 0) & (second < seconds(window))
        largest = cut(started.latency_max_s, self.start, window, -np.inf)
        return CountedLatencies(
            counts=cut(started.count, self.start, window),
            totals=cut(started.latency_sum_s, self.start, window),
            largest=float(largest.max(initial=-np.inf)),
            beyond=cut(started.beyond, self.start, window),
            buckets=Buckets(second[inside], self.buckets.index[inside], self.buckets.count[inside]),
        )


@dataclass(frozen=True, slots=True)
class CountedLatencies:
    """Latencies by the second of the window in which their messages were started."""

    counts: Counts
    totals: Values
    largest: float
    beyond: Counts
    buckets: Buckets

    @property
    def count(self) -> int:
        """As defined by `Latencies`, like all of the following."""
        return int(self.counts.sum())

    @property
    def mean_s(self) -> float:
        """Exact."""
        return float(self.totals.sum()) / self.count

    @property
    def max_s(self) -> float:
        """Exact."""
        return self.largest

    def quantiles_s(self, levels: Sequence[float]) -> Values:
        """Between the middles of the two nearest buckets; at most the largest latency."""
        merged = np.zeros(LENGTH, dtype=np.int64)
        np.add.at(merged, self.buckets.index, self.buckets.count)
        cumulative = np.cumsum(merged)
        values = np.append(np.minimum(middle_s(np.arange(LENGTH)), self.largest), np.nan)
        rank = np.asarray(levels, dtype=float) * (self.count - 1)
        below = np.floor(rank).astype(np.int64)
        above = np.ceil(rank).astype(np.int64)
        low = values[np.searchsorted(cumulative, below, side="right")]
        high = values[np.searchsorted(cumulative, above, side="right")]
        quantiles: Values = low + (high - low) * (rank - below)
        return quantiles

    def per_second(self) -> tuple[Values, Values]:
        """Exact."""
        return self.counts.astype(float), self.totals

    def above(self, latency_s: float) -> Counts:
        """Messages in buckets with a larger middle."""
        larger = np.minimum(middle_s(self.buckets.index), self.largest) > latency_s
        counts = self.beyond.copy()
        np.add.at(counts, self.buckets.second[larger], self.buckets.count[larger])
        return counts

    def histograms(self) -> list[Histogram]:
        """As recorded, summed over all processes."""
        order = np.argsort(self.buckets.second, kind="stable")
        ends = np.searchsorted(self.buckets.second[order], np.arange(len(self.counts) + 1))
        histograms = []
        for second, beyond in enumerate(self.beyond):
            rows = order[ends[second] : ends[second + 1]]
            counts = np.zeros(LENGTH, dtype=np.int64)
            np.add.at(counts, self.buckets.index[rows], self.buckets.count[rows])
            histograms.append(Histogram(counts, int(beyond)))
        return histograms


def combined(streams: Sequence[Counted]) -> Counted:
    """Combine the streams of several processes, whose starts are whole seconds apart."""
    if len(streams) == 1:
        return streams[0]
    start = min(stream.start for stream in streams)
    window = start, max(stream.end for stream in streams)
    latest = [stream.latest for stream in streams if stream.latest is not None]
    return Counted(
        timed=streams[0].timed,
        start=start,
        started=joined([(stream.started, stream.start) for stream in streams], window),
        finished=joined([(stream.finished, stream.start) for stream in streams], window),
        buckets=Buckets(
            np.concatenate(
                [stream.buckets.second + round(stream.start - start) for stream in streams]
            ),
            np.concatenate([stream.buckets.index for stream in streams]),
            np.concatenate([stream.buckets.count for stream in streams]),
        ),
        latest=max(latest, default=None),
    )


def joined(parts: Sequence[tuple[S, float]], window: Window) -> S:
    """Combine the seconds of a window from several processes, given each with its own start."""

    def join(name: str) -> NDArray[Any]:
        empty = NONE.get(name, 0)
        aligned = [cut(getattr(part, name), start, window, empty) for part, start in parts]
        merged: NDArray[Any] = JOINS[empty].reduce(aligned)
        return merged

    kind = type(parts[0][0])
    return kind(*(join(field.name) for field in fields(kind)))


def cut(values: NDArray[Any], start: float, window: Window, none: float = 0) -> NDArray[Any]:
    """Cut values of the seconds from ``start`` on to a window; ``none`` fills missing seconds."""
    in_window = np.full(seconds(window), none, dtype=values.dtype)
    shift = round(window[0] - start)
    first, last = max(shift, 0), min(shift + len(in_window), len(values))
    if first < last:
        in_window[first - shift : last - shift] = values[first:last]
    return in_window

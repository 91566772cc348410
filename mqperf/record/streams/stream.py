"""The interface of tables to the messages of a stream, independent of the kind of record.

A stream is one kind of message, of one process or of several together.  `Instants` has every
message; `mqperf.record.streams.counted` has counts and histograms of each second.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mqperf.onhost.record.hdr import Histogram, fold

Window = tuple[float, float]
"""Start and end in epoch seconds, a whole number of seconds apart."""

Counts = NDArray[np.int64]
Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Summary:
    """The latencies of all messages of a stream, in seconds."""

    mean_s: float
    min_s: float
    max_s: float


@dataclass(frozen=True, slots=True)
class Seconds:
    """Messages by the second in which they were finished; latencies are NaN without messages."""

    count: Counts
    latency_mean_s: Values
    latency_max_s: Values


class Latencies(Protocol):
    """The latencies of the messages that were started in a window."""

    @property
    def count(self) -> int:
        """The number of messages; where it is 0, nothing else may be called."""
        ...

    @property
    def mean_s(self) -> float:
        """The mean latency."""
        ...

    @property
    def max_s(self) -> float:
        """The largest latency."""
        ...

    def quantiles_s(self, levels: Sequence[float]) -> Values:
        """Quantiles by linear interpolation between the two nearest; NaN where unknown."""
        ...

    def per_second(self) -> tuple[Values, Values]:
        """Messages started in each second of the window, and the sums of their latencies."""
        ...

    def above(self, latency_s: float) -> Counts:
        """The number of larger latencies, by the second in which their messages were started."""
        ...

    def histograms(self) -> list[Histogram]:
        """A histogram for each second of the window."""
        ...


class Stream(Protocol):
    """The messages of one stream.

    For a stream that is not ``timed`` only the starts of its messages are known.
    """

    @property
    def timed(self) -> bool:
        """Whether its messages have a finish, and so a latency."""
        ...

    @property
    def count(self) -> int:
        """All messages, over the whole run."""
        ...

    def last(self) -> float | None:
        """The latest finish, in epoch seconds; None without messages."""
        ...

    def summary(self) -> Summary | None:
        """The latencies of all messages; None without messages, or when it is not timed."""
        ...

    def per_second(self, window: Window) -> Counts:
        """Messages finished (not timed: started) in each second of the window."""
        ...

    def by_finish(self, window: Window) -> Seconds:
        """Messages finished in each second of the window, with their latencies."""
        ...

    def started_in(self, window: Window) -> Latencies:
        """The latencies of the messages started in the window, however late they finished."""
        ...


ByProcess = Mapping[str, Mapping[str, Stream]]
"""Streams by label of the process, then by name of the stream."""


def per_second(instants: Values, window: Window) -> Counts:
    """Count the instants in each whole second of the window."""
    length = seconds(window)
    second = np.floor(instants - window[0])
    inside = second[(second >= 0) & (second < length)].astype(np.int64)
    return np.bincount(inside, minlength=length)


@dataclass(frozen=True, slots=True)
class Instants:
    """A stream with every message: a row of epoch seconds, started and, if timed, finished."""

    values: Values

    @property
    def timed(self) -> bool:
        """As defined by `Stream`, like all of the following."""
        return bool(self.values.shape[1] > 1)

    @property
    def count(self) -> int:
        """All messages."""
        return len(self.values)

    @property
    def started(self) -> Values:
        """The start of each message."""
        started: Values = self.values[:, 0]
        return started

    @property
    def finished(self) -> Values:
        """The finish of each message; its start, if not timed."""
        finished: Values = self.values[:, -1]
        return finished

    def last(self) -> float | None:
        """The latest finish."""
        return float(self.finished.max()) if self.count else None

    def summary(self) -> Summary | None:
        """Over all messages."""
        if not self.timed or not self.count:
            return None
        latency = self.finished - self.started
        return Summary(float(latency.mean()), float(latency.min()), float(latency.max()))

    def per_second(self, window: Window) -> Counts:
        """Finished in each second."""
        return per_second(self.finished, window)

    def by_finish(self, window: Window) -> Seconds:
        """Finished in each second, and their latencies."""
        counts = self.per_second(window)
        if not self.timed:
            unknown = np.full(len(counts), np.nan)
            return Seconds(counts, unknown, unknown)
        second = np.floor(self.finished - window[0])
        inside = (second >= 0) & (second < len(counts))
        latency = (self.finished - self.started)[inside]
        second = second[inside].astype(np.int64)
        total: Values = np.bincount(second, weights=latency, minlength=len(counts)).astype(float)
        largest = np.full(len(counts), -np.inf)
        np.maximum.at(largest, second, latency)
        return averaged(counts, total, largest)

    def started_in(self, window: Window) -> "InstantLatencies":
        """The latencies of messages started in the window."""
        inside = self.values[(self.started >= window[0]) & (self.started < window[1])]
        second = (inside[:, 0] - window[0]).astype(np.int64)
        return InstantLatencies(inside[:, 1] - inside[:, 0], second, seconds(window))


@dataclass(frozen=True, slots=True)
class InstantLatencies:
    """Every latency, and the second of the window in which its message was started."""

    latency_s: Values
    second: Counts
    seconds: int

    @property
    def count(self) -> int:
        """As defined by `Latencies`, like all of the following."""
        return len(self.latency_s)

    @property
    def mean_s(self) -> float:
        """The mean."""
        return float(self.latency_s.mean())

    @property
    def max_s(self) -> float:
        """The largest."""
        return float(self.latency_s.max())

    def quantiles_s(self, levels: Sequence[float]) -> Values:
        """Over all messages."""
        return np.quantile(self.latency_s, list(levels))

    def per_second(self) -> tuple[Values, Values]:
        """Counts and sums."""
        counts = np.bincount(self.second, minlength=self.seconds).astype(float)
        totals = np.bincount(self.second, weights=self.latency_s, minlength=self.seconds)
        return counts, totals.astype(float)

    def above(self, latency_s: float) -> Counts:
        """The number of larger latencies."""
        return np.bincount(self.second[self.latency_s > latency_s], minlength=self.seconds)

    def histograms(self) -> list[Histogram]:
        """A histogram for each second."""
        order = np.argsort(self.second, kind="stable")
        latency, second = self.latency_s[order], self.second[order]
        ends = np.searchsorted(second, np.arange(self.seconds + 1))
        return [fold(latency[first:last]) for first, last in pairwise(ends)]


def averaged(counts: Counts, total: Values, largest: Values) -> Seconds:
    """Compute the means and maxima of each second; NaN without messages."""
    busy = counts > 0
    mean = np.divide(total, counts, where=busy, out=np.full(len(total), np.nan))
    return Seconds(counts, mean, np.where(busy, largest, np.nan))


def seconds(window: Window) -> int:
    """Return the length of a window."""
    return round(window[1] - window[0])

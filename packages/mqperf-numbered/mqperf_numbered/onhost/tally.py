"""Writes ``.counts`` files: arrays of messages in, sums of each second out.

Single messages are not kept: memory does not grow with their number, and only by some hundred bytes
a second.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mqperf.onhost.record import numbers
from mqperf.onhost.record.counts_format import EARLY_S, FORMAT, RANGES_LIMIT, VERSION
from mqperf.onhost.record.hdr import HIGHEST_NS, Histogram, indices
from mqperf.onhost.record.hdr_code import encode
from mqperf_numbered.onhost.buckets import Buckets

COLUMNS = {"sent": ("started",)} | dict.fromkeys(
    (
        *("round_trip", "error", "received", "handover", "service"),
        *("confirmed", "released", "modified", "rejected", "dead_lettered"),
        *("urgent", "usual"),
    ),
    ("started", "finished"),
)
"""The recorded instants of a message, by stream."""

PARTS = 64
"""Arrays of numbers that are kept before they are merged."""

Values = NDArray[np.float64]


class Tally:
    """The streams of one process; ``start`` is the agreed start, in epoch seconds."""

    def __init__(
        self, label: str, kind: str, test_case: str, start: float, streams: Sequence[str]
    ) -> None:
        self.header = {"label": label, "kind": kind, "test_case": test_case, "start": start}
        self.start = start
        self.streams = {name: _Stream(len(COLUMNS[name]) > 1) for name in streams}
        self.seen: dict[tuple[str, str], _Seen] = {}

    def add(
        self,
        stream: str,
        sender: str,
        sequence: NDArray[np.int64],
        started: Values,
        finished: Values | None = None,
    ) -> None:
        """Count messages of one sender, in order of observation.

        ``sequence`` has their sequence numbers, which count from 0 at the sender.  Raises
        ``ValueError``, and counts nothing, if a message is from an hour or more before the start.
        """
        if len(sequence):
            self.count(stream, started, finished)
            self.see(stream, sender, sequence)

    def count(self, stream: str, started: Values, finished: Values | None = None) -> None:
        """Count messages of any senders by their instants alone.

        Raises ``ValueError`` as ``add`` does.
        """
        earliest = self.start - EARLY_S
        if started.min() <= earliest or (finished is not None and finished.min() <= earliest):
            raise ValueError("a message from long before the load cannot be counted")
        self.streams[stream].add(self.start, started, finished)

    def see(self, stream: str, sender: str, sequence: NDArray[np.int64]) -> None:
        """Record the sequence numbers of counted messages, in the order of ``add``."""
        if (seen := self.seen.get((stream, sender))) is None:
            seen = self.seen[stream, sender] = _Seen()
        seen.add(sequence)

    def missing(self, stream: str) -> int:
        """Return how many numbers below the highest of each sender are missing so far."""
        return sum(sender.missing for (name, _), sender in self.seen.items() if name == stream)

    def save(self, path: Path) -> None:
        """Write the file atomically."""
        seconds = (row for name, stream in self.streams.items() for row in stream.rows(name))
        seen = [row for key, sender in self.seen.items() for row in sender.rows(*key)]
        streams = [
            {"name": name, "columns": COLUMNS[name], "count": stream.total, "last": stream.last}
            for name, stream in self.streams.items()
        ]
        header = {
            "format": FORMAT,
            "version": VERSION,
            **self.header,
            "streams": streams,
            "seconds": sum(stream.seconds for stream in self.streams.values()),
            "numbers": len(seen),
        }
        draft = path.with_suffix(".counts-draft")
        with draft.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in chain([header], seconds, seen))
        draft.replace(path)


class _Stream:
    """The seconds of one stream."""

    def __init__(self, timed: bool) -> None:  # noqa: FBT001
        self.timed = timed
        self.total = 0
        self.last: float | None = None
        self.started = _Sums()
        self.finished = _Sums()
        self.ends = _Ends()
        self.buckets = Buckets()

    def add(self, start: float, started: Values, finished: Values | None) -> None:
        """Count messages of this stream."""
        self.total += len(started)
        ends = started if finished is None else finished
        self.last = max(float(ends.max()), -np.inf if self.last is None else self.last)
        second = np.floor(started - start).astype(np.int64)
        if finished is None:
            self.started.add(second, np.zeros(len(second)))
            return
        latency = finished - started
        self.started.add(second, latency)
        self.finished.add(np.floor(finished - start).astype(np.int64), latency)
        self.ends.add(finished - start)
        bucket, outside = indices(latency)
        if outside:
            second = second[np.rint(latency * 1e9) <= HIGHEST_NS]
        self.buckets.add(second, bucket)

    @property
    def seconds(self) -> int:
        """The number of seconds that have a line."""
        return len({*self.started.rows(), *self.finished.rows()})

    def rows(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield a line for each second with messages."""
        started, finished = self.started.rows(), self.finished.rows()
        for second in sorted({*started, *finished}):
            row: dict[str, Any] = {"stream": name, "second": second}
            if second in started and not self.timed:
                row["started"] = {"count": started[second]["count"]}
            elif second in started:
                histogram = Histogram(self.buckets.of(second))
                row["started"] = started[second] | {"histogram": encode(histogram)}
            if second in finished:
                row["finished"] = {
                    key: finished[second][key] for key in ("count", "sum_s", "max_s")
                } | self.ends.of(second)
            yield row


class _Sums:
    """Counts and latencies of each second; arrays begin ``EARLY_S`` before the start."""

    def __init__(self) -> None:
        self.count = np.zeros(0, dtype=np.int64)
        self.negative, self.beyond = self.count, self.count
        self.sum_s, self.min_s, self.max_s = (np.zeros(0) for _ in range(3))

    def add(self, second: NDArray[np.int64], latency: Values) -> None:
        """Add the latencies of messages; ``second`` is since the start."""
        first, last = int(second.min()), int(second.max())
        self._grow(last + EARLY_S + 1)
        index, length = second - first, last - first + 1
        sums = {name: values[first + EARLY_S :][:length] for name, values in vars(self).items()}
        sums["count"] += np.bincount(index, minlength=length)
        sums["sum_s"] += np.bincount(index, weights=latency, minlength=length)
        if latency.min() < 0:
            sums["negative"] += np.bincount(index[latency < 0], minlength=length)
        if (beyond := np.rint(latency * 1e9) > HIGHEST_NS).any():
            sums["beyond"] += np.bincount(index[beyond], minlength=length)
        np.minimum.at(sums["min_s"], index, latency)
        np.maximum.at(sums["max_s"], index, latency)

    def _grow(self, length: int) -> None:
        initial = {"min_s": np.inf, "max_s": -np.inf}
        for name, values in vars(self).items():
            more = np.full(max(length - len(values), 0), initial.get(name, 0), dtype=values.dtype)
            setattr(self, name, np.append(values, more))

    def rows(self) -> dict[int, dict[str, Any]]:
        """Return the figures of each second with messages."""
        return {
            int(index) - EARLY_S: {
                name: values[index].item() for name, values in vars(self).items()
            }
            for index in np.flatnonzero(self.count)
        }


class _Ends:
    """When the first and the last message of each second finished, since the second began."""

    def __init__(self) -> None:
        self.first: dict[int, float] = {}
        self.last: dict[int, float] = {}

    def add(self, since_start: Values) -> None:
        """Add messages by the seconds from the start to their finish."""
        second = np.floor(since_start)
        earliest, latest = second.min(), second.max()
        for begin in (earliest,) if earliest == latest else np.unique(second):
            inside = since_start if earliest == latest else since_start[second == begin]
            key, first, last = int(begin), float(inside.min() - begin), float(inside.max() - begin)
            self.first[key] = min(first, self.first.get(key, 1.0))
            self.last[key] = max(last, self.last.get(key, 0.0))

    def of(self, second: int) -> dict[str, float]:
        """Return the first and last finish of a second with messages."""
        return {"first_s": self.first[second], "last_s": self.last[second]}


class _KeyCounts:
    """How often each of many keys was added."""

    def __init__(self) -> None:
        self.parts: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []

    def add(self, keys: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
        """Add keys, each as often as its count."""
        self.parts.append(_merged([(keys, counts)]))
        if len(self.parts) >= PARTS:
            self.parts = [_merged(self.parts)]

    def merged(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the keys in order, and their counts."""
        return _merged(self.parts)


def _merged(
    parts: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    empty = np.zeros(0, dtype=np.int64)
    keys = np.concatenate([empty, *(keys for keys, _ in parts)])
    counts = np.concatenate([empty, *(counts for _, counts in parts)])
    distinct, inverse = np.unique(keys, return_inverse=True)
    total = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(total, inverse, counts)
    return distinct, total


class _Seen:
    """The sequence numbers of one sender in one stream."""

    def __init__(self) -> None:
        self.ranges = numbers.NONE.ranges
        self.again = _KeyCounts()
        self.highest = -1
        self.reordered = 0

    def add(self, sequence: NDArray[np.int64]) -> None:
        """Add numbers in order of observation."""
        if not self._extend(sequence):
            self._merge(sequence)

    @property
    def missing(self) -> int:
        """How many numbers below the highest are missing."""
        return self.highest + 1 - numbers.size(self.ranges)

    def _extend(self, sequence: NDArray[np.int64]) -> bool:
        """Add numbers if they follow the highest without a gap, as most do; return whether so."""
        first, last = int(sequence[0]), int(sequence[-1])
        if first != self.highest + 1 or last - first + 1 != len(sequence):
            return False
        if not (np.diff(sequence) == 1).all():
            return False
        if len(self.ranges):
            self.ranges[-1, 1] = last
        else:
            self.ranges = numbers.of(sequence)
        self.highest = last
        return True

    def _merge(self, sequence: NDArray[np.int64]) -> None:
        values, indices, times = np.unique(sequence, return_index=True, return_counts=True)
        new = ~numbers.holds(self.ranges, values)
        arrived = sequence[np.sort(indices[new])]
        highest = np.maximum.accumulate(np.append(self.highest, arrived))
        self.reordered += int((arrived < highest[:-1]).sum())
        self.highest = int(highest[-1])
        self.ranges = numbers.union([self.ranges, numbers.of(values[new])])
        more = times - new
        self.again.add(values[more > 0], more[more > 0])

    def rows(self, stream: str, sender: str) -> Iterator[dict[str, Any]]:
        """Yield the lines of the ranges; the first one has the count of reordered numbers."""
        again = _runs(*self.again.merged())
        for first in range(0, max(len(self.ranges), len(again)), RANGES_LIMIT):
            part = slice(first, first + RANGES_LIMIT)
            yield {
                "stream": stream,
                "sender": sender,
                "ranges": self.ranges[part].tolist(),
                "again": again[part].tolist(),
                "reordered": 0 if first else self.reordered,
            }


def _runs(values: NDArray[np.int64], times: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return rows of first, last and times: runs of successive numbers that came equally often."""
    if not len(values):
        return numbers.NONE.again
    breaks = np.flatnonzero((np.diff(values) > 1) | (np.diff(times) != 0))
    first, last = np.append(0, breaks + 1), np.append(breaks, len(values) - 1)
    return np.column_stack([values[first], values[last], times[first]])

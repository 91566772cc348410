"""Writing ``.counts`` files: messages in, by the array, and sums of each second out.

What is kept of a message is its share in the counts: memory grows with seconds and with the buckets
that are not empty, not with messages.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mqperf.record import numbers
from mqperf.record.counts_lines import EARLY_S, FORMAT, RANGES_LIMIT, VERSION
from mqperf.series.hdr import HIGHEST_NS, LENGTH, Histogram, indices
from mqperf.series.hdr_log import encode

COLUMNS = {
    "sent": ("started",),
    "round_trip": ("started", "finished"),
    "error": ("started", "finished"),
    "received": ("started", "finished"),
}

PARTS = 64
"""Arrays of buckets, or of numbers, that are kept before they are made one."""

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
        """Count messages of one sender, in the order in which they were seen.

        ``sequence`` has their numbers, by which the sender counts what it sends, from 0.  Raises
        ``ValueError`` for messages of an hour or more before the start, and counts none of them.
        """
        if not len(sequence):
            return
        if started.min() <= self.start - EARLY_S or (
            finished is not None and finished.min() <= self.start - EARLY_S
        ):
            raise ValueError("a message from long before the load cannot be counted")
        self.streams[stream].add(self.start, started, finished)
        self.seen.setdefault((stream, sender), _Seen()).add(sequence)

    def save(self, path: Path) -> None:
        """Write the file; it has its name only when it is whole."""
        seconds = [row for name, one in self.streams.items() for row in one.rows(name)]
        seen = [row for key, one in self.seen.items() for row in one.rows(*key)]
        streams = [
            {"name": name, "columns": COLUMNS[name], "count": one.total, "last": one.last}
            for name, one in self.streams.items()
        ]
        header = {
            "format": FORMAT,
            "version": VERSION,
            **self.header,
            "streams": streams,
            "seconds": len(seconds),
            "numbers": len(seen),
        }
        draft = path.with_suffix(".counts-draft")
        with draft.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in [header, *seconds, *seen])
        draft.replace(path)


class _Stream:
    """The seconds of one stream."""

    def __init__(self, timed: bool) -> None:  # noqa: FBT001
        self.timed = timed
        self.total = 0
        self.last: float | None = None
        self.started = _Sums()
        self.finished = _Sums()
        self.buckets = _Added()

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
        fits = np.rint(latency * 1e9) <= HIGHEST_NS
        index, _ = indices(latency[fits])
        self.buckets.add((second[fits] + EARLY_S) * LENGTH + index, np.ones(len(index), np.int64))

    def rows(self, name: str) -> Iterator[dict[str, Any]]:
        """A line for each second in which there is anything."""
        keys, counts = self.buckets.merged()
        bucket_second, index = keys // LENGTH - EARLY_S, keys % LENGTH
        started, finished = self.started.rows(), self.finished.rows()
        for second in sorted({*started, *finished}):
            row: dict[str, Any] = {"stream": name, "second": second}
            if second in started and not self.timed:
                row["started"] = {"count": started[second]["count"]}
            elif second in started:
                first, last = np.searchsorted(bucket_second, [second, second + 1])
                dense = np.zeros(LENGTH, dtype=np.int64)
                dense[index[first:last]] = counts[first:last]
                row["started"] = started[second] | {"histogram": encode(Histogram(dense))}
            if second in finished:
                row["finished"] = {
                    key: finished[second][key] for key in ("count", "sum_s", "max_s")
                }
            yield row


class _Sums:
    """Counts and latencies of each second; arrays begin ``EARLY_S`` before the start."""

    def __init__(self) -> None:
        self.count = np.zeros(0, dtype=np.int64)
        self.negative, self.beyond = self.count, self.count
        self.sum_s, self.min_s, self.max_s = (np.zeros(0) for _ in range(3))

    def add(self, second: NDArray[np.int64], latency: Values) -> None:
        """Take in messages of these seconds since the start."""
        place = second + EARLY_S
        self._grow(int(place.max()) + 1)
        length = len(self.count)
        self.count += np.bincount(place, minlength=length)
        self.sum_s += np.bincount(place, weights=latency, minlength=length)
        self.negative += np.bincount(place[latency < 0], minlength=length)
        self.beyond += np.bincount(place[np.rint(latency * 1e9) > HIGHEST_NS], minlength=length)
        np.minimum.at(self.min_s, place, latency)
        np.maximum.at(self.max_s, place, latency)

    def _grow(self, length: int) -> None:
        none = {"min_s": np.inf, "max_s": -np.inf}
        for name, values in vars(self).items():
            more = np.full(max(length - len(values), 0), none.get(name, 0), dtype=values.dtype)
            setattr(self, name, np.append(values, more))

    def rows(self) -> dict[int, dict[str, Any]]:
        """By second, what a line says of it."""
        return {
            int(place) - EARLY_S: {
                name: values[place].item() for name, values in vars(self).items()
            }
            for place in np.flatnonzero(self.count)
        }


class _Added:
    """How often each of many keys was added."""

    def __init__(self) -> None:
        self.parts: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []

    def add(self, keys: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
        """Take in keys, each as often as its count."""
        self.parts.append(_merged([(keys, counts)]))
        if len(self.parts) >= PARTS:
            self.parts = [_merged(self.parts)]

    def merged(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The keys in order, and their counts."""
        return _merged(self.parts)


def _merged(
    parts: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    none = np.zeros(0, dtype=np.int64)
    keys = np.concatenate([none, *(keys for keys, _ in parts)])
    counts = np.concatenate([none, *(counts for _, counts in parts)])
    found, where = np.unique(keys, return_inverse=True)
    total = np.zeros(len(found), dtype=np.int64)
    np.add.at(total, where, counts)
    return found, total


class _Seen:
    """The sequence numbers of one sender in one stream."""

    def __init__(self) -> None:
        self.ranges = numbers.NONE.ranges
        self.again = _Added()
        self.highest = -1
        self.reordered = 0

    def add(self, sequence: NDArray[np.int64]) -> None:
        """Take in numbers, in the order in which they were seen."""
        values, places, times = np.unique(sequence, return_index=True, return_counts=True)
        new = ~numbers.holds(self.ranges, values)
        arrived = sequence[np.sort(places[new])]
        highest = np.maximum.accumulate(np.append(self.highest, arrived))
        self.reordered += int((arrived < highest[:-1]).sum())
        self.highest = int(highest[-1])
        self.ranges = numbers.union([self.ranges, numbers.of(values[new])])
        more = times - new
        self.again.add(values[more > 0], more[more > 0])

    def rows(self, stream: str, sender: str) -> Iterator[dict[str, Any]]:
        """As many lines as the ranges take; the first has what was reordered."""
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
    """Rows of first and last of neighbouring numbers that were seen as often, and how often."""
    if not len(values):
        return numbers.NONE.again
    breaks = np.flatnonzero((np.diff(values) > 1) | (np.diff(times) != 0))
    first, last = np.append(0, breaks + 1), np.append(breaks, len(values) - 1)
    return np.column_stack([values[first], values[last], times[first]])

"""Histogram logs, version 1.3, as the Java tools of HdrHistogram write and read them.

A line per second: its start and length, its largest latency in milliseconds, and its compressed
histogram.  They are written here, as hdrhistogram 0.10.8 for Python writes no start time, rounds
maxima down to zero, and supports version 1.2 only.
"""

import base64
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mqperf.base.errors import TableError
from mqperf.onhost.record.hdr import (
    DIGITS,
    HIGHEST_NS,
    LENGTH,
    LOWEST_NS,
    Counts,
    Histogram,
    highest_ns,
)
from mqperf.onhost.record.hdr_code import COMPRESSED, CONTINUED, ENCODED, HEADER, OUTER, encode

LEGEND = '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'

WORD = 8
"""Bytes of the longest encoded count; nine would exceed ``MOST``."""

MOST = 2**53
"""The largest count of a bucket."""

LONGEST_BYTES = WORD * LENGTH


@dataclass(frozen=True, slots=True)
class Interval:
    """A line of a log; ``start_s`` counts from the start time in its header."""

    start_s: float
    length_s: float
    histogram: Histogram


def write_log(path: Path, start: float, intervals: Iterable[Interval], comment: str) -> None:
    """Write a log that starts at the epoch second ``start``, with a comment at its top."""
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
    """Yield the intervals of a log of ``write_log``, or with the same range and digits.

    Raises ``TableError`` for an invalid line.
    """
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith(("#", '"')) or not line:
            continue
        try:
            start, length, _, encoded = line.rsplit(",", 3)
            yield Interval(float(start), float(length), decode(encoded))
        except ValueError as error:
            raise TableError(f"{path}:{number}: no line of a histogram log: {error}") from None


def decode(encoded: str) -> Histogram:
    """Decode a compressed histogram; raises ``ValueError`` for one of another range."""
    index, number = decode_sparse(encoded)
    counts = np.zeros(LENGTH, dtype=np.int64)
    counts[index] = number
    return Histogram(counts)


def decode_sparse(encoded: str) -> tuple[Counts, Counts]:
    """Return the indexes of the buckets that are not empty, in order, and their counts.

    Raises ``ValueError`` for invalid text, and never allocates more memory than a histogram needs:
    hdrhistogram 0.10.8 would trust the sizes in the text.
    """
    content, range_ = unpacked(encoded, LONGEST_BYTES)
    if range_ != (DIGITS, LOWEST_NS, HIGHEST_NS):
        raise ValueError("the histogram has another range or number of digits")
    return buckets(content, LENGTH)


def unpacked(encoded: str, most_bytes: int) -> tuple[bytes, tuple[int, int, int]]:
    """Return the encoded counts of a histogram, and its range: digits, lowest and highest value.

    Raises ``ValueError`` for invalid text, and for more than ``most_bytes``.
    """
    payload = _decompressed(base64.b64decode(encoded, validate=True), most_bytes)
    cookie, length, offset, digits, lowest, highest, ratio = HEADER.unpack_from(payload)
    if (cookie, length, offset) != (ENCODED, len(payload) - HEADER.size, 0):
        raise ValueError("no histogram of version 2, or not a whole one")
    if ratio != 1.0:
        raise ValueError("the histogram counts no whole numbers")
    return payload[HEADER.size :], (digits, lowest, highest)


def buckets(content: bytes, length: int) -> tuple[Counts, Counts]:
    """Return the indexes and counts of the buckets, of ``length``, that are not empty."""
    words = _words(np.frombuffer(content, dtype=np.uint8))
    if words.size and (words.min() < -length or words.max() > MOST):
        raise ValueError("the histogram has a count beyond any")
    steps = np.where(words < 0, -words, 1)  # a negative word is a number of empty buckets
    ends = np.cumsum(steps)
    if words.size and ends[-1] > length:
        raise ValueError("the histogram has more buckets than its range")
    return (ends - steps)[words > 0], words[words > 0]


def _decompressed(content: bytes, most_bytes: int) -> bytes:
    if len(content) < OUTER.size or OUTER.unpack_from(content) != (
        COMPRESSED,
        len(content) - OUTER.size,
    ):
        raise ValueError("no compressed histogram of version 2, or not a whole one")
    unpacker = zlib.decompressobj()
    try:
        payload = unpacker.decompress(content[OUTER.size :], HEADER.size + most_bytes)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if not unpacker.eof or unpacker.unused_data or len(payload) < HEADER.size:
        raise ValueError("the compressed histogram is cut short, or too long")
    return payload


def _words(content: NDArray[np.uint8]) -> Counts:
    """Decode integers in LEB128 (seven bits to the byte, least first) with zigzag signs."""
    ends = np.flatnonzero(content < CONTINUED)
    lengths = np.diff(ends, prepend=-1)
    if content.size and (not ends.size or ends[-1] != content.size - 1 or lengths.max() > WORD):
        raise ValueError("the histogram has a word that does not end, or is too long")
    if not content.size:
        return np.zeros(0, dtype=np.int64)
    starts = ends - lengths + 1
    shift = 7 * (np.arange(content.size) - np.repeat(starts, lengths))
    values = np.add.reduceat((content & (CONTINUED - 1)).astype(np.int64) << shift, starts)
    words: Counts = (values >> 1) ^ -(values & 1)
    return words


def _line(interval: Interval) -> str:
    largest_ms = _largest_ns(interval.histogram) / 1e6
    times = f"{interval.start_s:.3f},{interval.length_s:.3f},{largest_ms:.3f}"
    return f"{times},{encode(interval.histogram)}"


def _largest_ns(histogram: Histogram) -> int:
    filled = np.flatnonzero(histogram.counts)
    return int(highest_ns(filled[-1:])[0]) if len(filled) else 0

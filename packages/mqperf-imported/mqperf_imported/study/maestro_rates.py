"""Reads Maestro's rate files: counts of each second (Java workers), or each message (C workers).

A Java worker counts all its connections together once a second, without the rest after the last
second.  A C worker writes a line for each message, with the local time of its host.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mqperf.base.errors import TableError
from mqperf_imported.study.contradictions import LATEST_S, LONGEST_S
from mqperf_imported.study.unpacked import present, unpacked

HEADER = struct.Struct(">8siii")
"""Name of the format, version of the format, version of Maestro, role."""

NAME, VERSION = b" maestro", 1
ROLES = {"sender": 1, "receiver": 2}
RECORD = np.dtype([("metadata", ">i4"), ("count", ">i8"), ("until_us", ">i8")])

DAY = "%Y-%m-%d %H:%M:%S"
DIGITS = 19
"""Characters of an instant up to its second; the rest is not padded, so no decimal fraction."""

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """Messages of each second from ``start`` on.

    ``start`` is in epoch seconds if ``zoned``, else in local time.  ``total`` is None if the last
    messages are not counted.
    """

    start: int
    counts: Counts
    zoned: bool
    total: int | None

    @property
    def end(self) -> int:
        """The end of the last second."""
        return self.start + len(self.counts)


def read_rates(folder: Path, role: str) -> Rates | None:
    """Return the rates of a worker of this role from its folder; None if it has none.

    Raises ``TableError`` for a file that is damaged or not Maestro's.
    """
    if (lines := present(folder, f"{role}d-rate.csv")) is not None:
        return _of_messages(lines)
    binary = folder / f"{role}.dat"
    return _of_seconds(binary, role) if binary.exists() else None


def _of_seconds(file: Path, role: str) -> Rates:
    content = unpacked(file)
    if len(content) < HEADER.size or (len(content) - HEADER.size) % RECORD.itemsize:
        raise TableError(f"{file}: is cut short, or no rate file of Maestro")
    name, version, _, code = HEADER.unpack_from(content)
    if (name, version) != (NAME, VERSION):
        raise TableError(f"{file}: is no rate file of Maestro, version {VERSION}")
    if code != ROLES[role]:
        raise TableError(f"{file}: is not of a {role}; restore it from a copy")
    records = np.frombuffer(content, RECORD, offset=HEADER.size)
    # a record counts the second before its instant
    seconds = records["until_us"].astype(np.int64) // 1_000_000 - 1
    return _rates(file, seconds, records["count"].astype(np.int64), zoned=True, complete=False)


def _of_messages(file: Path) -> Rates:
    per_second: dict[bytes, int] = {}
    for number, line in enumerate(unpacked(file).splitlines()[1:], 2):
        actual = line.rpartition(b",")[2].strip(b'"')
        if len(actual) < DIGITS:
            raise TableError(f"{file}:{number}: is no line with two instants")
        second = actual[:DIGITS]
        per_second[second] = per_second.get(second, 0) + 1
    seconds = np.array([_second(file, text) for text in per_second], dtype=np.int64)
    counts = np.array([*per_second.values()], dtype=np.int64)
    return _rates(file, seconds, counts, zoned=False, complete=True)


def _second(file: Path, text: bytes) -> int:
    try:
        return int(datetime.strptime(f"{text.decode()}+0000", f"{DAY}%z").timestamp())
    except ValueError:
        shown = text.decode(errors="replace")
        raise TableError(f"{file}: {shown!r} is no instant, such as 2018-03-21 10:03:01") from None


def _rates(file: Path, seconds: Counts, counts: Counts, *, zoned: bool, complete: bool) -> Rates:
    if not len(seconds):
        raise TableError(f"{file}: has no message in it; leave the test out")
    length_s = seconds.max() - seconds.min()
    if counts.min() < 0 or length_s > LONGEST_S or abs(seconds).max() > LATEST_S:
        raise TableError(
            f"{file}: is damaged: a count is negative, or a second far from others, or from now"
        )
    start = int(seconds.min())
    filled = np.zeros(int(seconds.max()) - start + 1, dtype=np.int64)
    np.add.at(filled, seconds - start, counts)
    return Rates(start, filled, zoned, int(counts.sum()) if complete else None)


def together(workers: Sequence[Rates], start: int, end: int) -> Counts:
    """Return the messages of several workers in each second from ``start`` to ``end``."""
    total = np.zeros(end - start, dtype=np.int64)
    for rates in workers:
        first, last = max(start, rates.start), min(end, rates.end)
        if first < last:
            common = rates.counts[first - rates.start : last - rates.start]
            total[first - start : last - start] += common
    return total

"""Maestro's rate files: messages of each second, of a worker in Java, or each message, in C.

A worker in Java counts its connections together, once a second, and not the rest after the last
second.  One in C writes a line for each message, with the time of day where it ran.
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
"""Name of the format, its version, that of Maestro, role."""

NAME, VERSION = b" maestro", 1
ROLES = {"sender": 1, "receiver": 2}
RECORD = np.dtype([("metadata", ">i4"), ("count", ">i8"), ("until_us", ">i8")])

DAY = "%Y-%m-%d %H:%M:%S"
DIGITS = 19
"""Characters of an instant up to its second; what follows is not padded, so it is no fraction."""

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """Messages of each second from ``start`` on.

    It is in epoch seconds where ``zoned``, else by a clock on the wall there.  ``total`` is None
    where the last messages are not in it.
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
    """The rates that a worker of this role wrote into its folder; None where there are none.

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
    # a record has what came since the one before, which was a second ago
    seconds = records["until_us"].astype(np.int64) // 1_000_000 - 1
    return _rates(file, seconds, records["count"].astype(np.int64), zoned=True, complete=False)


def _of_messages(file: Path) -> Rates:
    instants: dict[bytes, int] = {}
    for number, line in enumerate(unpacked(file).splitlines()[1:], 2):
        actual = line.rpartition(b",")[2].strip(b'"')
        if len(actual) < DIGITS:
            raise TableError(f"{file}:{number}: is no line with two instants")
        second = actual[:DIGITS]
        instants[second] = instants.get(second, 0) + 1
    seconds = np.array([_second(file, text) for text in instants], dtype=np.int64)
    counts = np.array([*instants.values()], dtype=np.int64)
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


def together(parts: Sequence[Rates], start: int, end: int) -> Counts:
    """The messages of several workers in each second from ``start`` to ``end``."""
    total = np.zeros(end - start, dtype=np.int64)
    for part in parts:
        first, last = max(start, part.start), min(end, part.end)
        if first < last:
            total[first - start : last - start] += part.counts[
                first - part.start : last - part.start
            ]
    return total

"""The record of the atop probe in a run folder: CPU of the processes of a run on one host."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import SEEK_END
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from mqperf.base import raw
from mqperf.base.errors import ProbeError
from mqperf_atop.record.text import (
    RESET,
    SEPARATOR,
    Interval,
    blocks,
    host_of,
    interval,
    together,
    used,
)

LOG, PIDS, TEXT = "atop.log", "atop.json", "atop.txt"
"""The log of the probe, the chosen processes, and what was recorded of them."""

PROCESS = re.compile(
    rb"PRC (?:\S+ ){5}(\d+) \(.*\) \S ([1-9]\d*) (\d+) (\d+) (?:-?\d+ ){6}\1 y(?: .*)?"
)
"""Process id; ticks per second, in user, in system.  The name may have blanks and brackets."""

Pid = Annotated[int, Field(gt=0, le=2**31)]


class Chosen(BaseModel, frozen=True, strict=True):
    """The chosen processes of a record: their ids by label; and the version of atop."""

    version: str
    processes: Mapping[str, list[Pid]]


@dataclass(frozen=True, slots=True)
class Recorded:
    """A record of one host: the chosen processes, and the CPU that they used, by label."""

    chosen: Chosen
    intervals: Sequence[Interval]


def recorded(folder: Path) -> Recorded:
    """Read the record in the folder of a host.

    Raise ``ProbeError``, with file and line, for one that is missing, truncated or invalid.
    """
    chosen, file = _chosen(folder / PIDS), folder / TEXT
    labels = {b"%d" % pid: label for label, pids in chosen.processes.items() for pid in pids}
    intervals: list[Interval] = []
    line = 1
    try:
        for block in blocks(file):
            intervals += _parsed(file, line, block, labels)
            if len(intervals) > 1 and intervals[-1].start != intervals[-2].end:
                raise ProbeError(f"{file}:{line}: does not begin where the block before it ended")
            line += block.count(b"\n") + 2
        if not _is_whole(file):
            raise ProbeError(f"{file}:{max(1, line - 1)}: cut short: the last line is not SEP")
    except OSError as error:
        raise ProbeError(f"{file}: no record of atop: {error.strerror}") from None
    return Recorded(chosen, intervals)


def _is_whole(file: Path) -> bool:
    """Whether the last block of a file is complete."""
    with raw.opened(file) as text:
        text.seek(max(0, text.seek(0, SEEK_END) - len(SEPARATOR)))
        return text.read() == SEPARATOR


def _chosen(file: Path) -> Chosen:
    try:
        return Chosen.model_validate_json(raw.content(file))
    except OSError as error:
        raise ProbeError(f"{file}: no record of atop: {error.strerror}") from None
    except ValidationError as error:
        raise ProbeError(f"{file}:1: {raw.first_problem(error)}") from None


def _parsed(file: Path, line: int, block: bytes, labels: Mapping[bytes, str]) -> Iterator[Interval]:
    """Yield the interval of a block that begins at ``line``; none if it counts from boot."""
    by_label: dict[str, list[tuple[float, float]]] = {label: [] for label in labels.values()}
    for number, text in enumerate(block.split(b"\n"), line):
        if text + b"\n" == RESET or text.startswith(b"CPU "):
            continue
        process = PROCESS.fullmatch(text)
        if process is None or process[1] not in labels:
            raise ProbeError(f"{file}:{number}: no line of atop about a process of the run")
        by_label[labels[process[1]]].append(used(*map(int, process.groups()[1:])))
    host = host_of(block)
    if host is None:
        raise ProbeError(f"{file}:{line}: a block without a line CPU of atop")
    if not block.startswith(RESET):
        yield interval(host, {label: together(uses) for label, uses in by_label.items()})

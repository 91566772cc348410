"""The log of the probe of waits: its format, and how it is read and validated."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from mqperf.base.errors import ProbeError
from mqperf.record.logs.json_lines import json_lines

LOG = "waits.jsonl"

Name = Annotated[str, Field(max_length=300)]
Seconds = Annotated[float, Field(ge=0, le=1e15)]
Counter = Annotated[int, Field(ge=0, le=2**63)]


class Seen(BaseModel, frozen=True, allow_inf_nan=False, defer_build=True):
    """An observation at an instant."""


class Process(Seen):
    """Kernel counters of a process: for each thread, seconds on a core and seconds waiting for one.

    ``written_bytes`` were sent to disks.
    """

    threads: dict[Name, tuple[Seconds, Seconds]] = Field(max_length=100_000)
    written_bytes: Counter | None = None


class Erlang(Seen):
    """Numbers of looks at an Erlang process in each state, and its ``waiting`` messages in all.

    ``held`` counts the looks at which it waited for credit.
    """

    kind: Name
    name: Name
    running: Counter
    runnable: Counter
    waiting: Counter
    held: Counter


class Queue(Seen):
    """The messages of a queue, and its number of consumers."""

    name: Name
    ready: Counter
    unacked: Counter
    consumers: Counter


class SeenNode(Seen):
    """The state of a node over a second, or the ``error`` if it was not observed."""

    error: str | None = None
    run_queue: Counter = 0
    alarms: Counter = 0
    sync_s: Seconds | None = None
    schedulers: Counter = 0
    looks: Counter = 0
    processes: list[Erlang] = Field([], max_length=1_000)
    queues: list[Queue] = Field([], max_length=1_000)


class Sample(Seen):
    """One line, as ``onhost/sampler.py`` writes it; times are seconds by the host's clocks."""

    epoch: Seconds
    monotonic: Seconds
    processes: dict[Name, Process] = Field(max_length=100_000)
    pressure: dict[Name, Seconds]
    nodes: dict[Name, SeenNode]


def samples(file: Path) -> Iterator[Sample]:
    """Every sample; raises ``ProbeError`` with a line that is cut short, or not of this log."""
    return json_lines(file, Sample, "waits")


def check(folder: Path, host: str) -> None:
    """Raise ``ProbeError`` for a log that is invalid, or has no sample."""
    if not [*samples(folder / LOG)]:
        raise ProbeError(f"{folder / LOG}: the probe waits wrote nothing on {host}")

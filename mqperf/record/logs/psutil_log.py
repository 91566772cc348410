"""The log of the psutil probe, as ``onhost/probes/psutil_sampler.py`` writes it."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field

from mqperf.base.errors import ProbeError
from mqperf.onhost.machine.network import LOOPBACK
from mqperf.record.logs.json_lines import json_lines

LOG = "psutil.jsonl"
WHOLE_HOST = "host"
"""Label of the whole host among the processes of a log."""

Counter = Annotated[float, Field(ge=0, le=1e15)]
Number = Annotated[int, Field(ge=0, le=2**63 - 1)]
Segments = tuple[Number, Number] | tuple[Number, Number, Number]
"""TCP segments sent, retransmitted, and, if known, retransmitted although they had arrived."""
Reading = tuple[Counter, Counter, Counter, Number]
"""Time of the monotonic clock, cumulative user and system seconds, resident bytes."""

Processors = tuple[Counter, Counter, Counter] | tuple[Counter, Counter, Counter, Counter]
"""Time, cumulative seconds used, their system part, and those stolen by a hypervisor, if known."""

Usage = tuple[float, float, float, int | None, float | None]
"""Time, cumulative seconds used, their system part, bytes of memory, and stolen seconds.

Memory is resident for a process, in use for a host; only hosts have stolen seconds, if known.
"""


class Strict(BaseModel, frozen=True, strict=True, allow_inf_nan=False, defer_build=True):
    """Base of models with finite numbers of exact JSON types."""


class Network(Strict):
    """Cumulative counters of the network, by interface, and of TCP on the whole host."""

    at: Counter
    bytes: Mapping[str, tuple[Number, Number]]
    speeds: Mapping[str, Number]
    segments: Segments | None = None


class Memory(NamedTuple):
    """Bytes of a host: total and available memory, and cumulative swapping in and out."""

    total: Number
    available: Number
    swapped_in: Number
    swapped_out: Number


class Sample(Strict):
    """A line of the log, as ``psutil_sampler.py`` writes it."""

    epoch: Counter
    monotonic: Counter
    processes: Mapping[str, Reading | None]
    host: Processors
    network: Network | None = None
    memory: Memory | None = None
    yardstick_s: Annotated[float, Field(gt=0, le=1e3)] | None = None


def samples(file: Path) -> list[Sample]:
    """Return every sample of a log, in the order of time.

    Raises ``ProbeError`` with the number of a line that is cut short or invalid, has a counter that
    fell (as after a change of the process), or readings out of order.
    """
    log = [*json_lines(file, Sample, "psutil")]
    for number, (before, after) in enumerate(pairwise(log), 2):
        if problem := next(_fallen(before, after), None):
            raise ProbeError(f"{file}:{number}: {problem}")
    for number, sample in enumerate(log, 1):
        if problem := next(_contradictions(sample), None):
            raise ProbeError(f"{file}:{number}: {problem}")
    return log


def cores_now(end: bytes) -> dict[str, float]:
    """Return the CPU use in cores between the last two samples of a growing log, by label.

    ``end`` is the end of the log; the result is empty for less than two samples.
    """
    complete = [line for line in end.split(b"\n")[-3:-1] if line.startswith(b"{")]
    if len(complete) < 2:
        return {}
    before, after = (Sample.model_validate_json(line) for line in complete)
    cores = {}
    for label in [*after.processes, WHOLE_HOST]:
        first, last = reading_of(before, label), reading_of(after, label)
        if first is not None and last is not None and last[0] > first[0]:
            cores[label] = max(0.0, last[1] - first[1]) / (last[0] - first[0])
    return cores


def by_clock(log: Sequence[Sample], ahead_s: float) -> Sequence[Sample]:
    """Convert the samples to another clock, which their own clock is ahead of by ``ahead_s``."""
    if not ahead_s:
        return log
    return [sample.model_copy(update={"epoch": sample.epoch - ahead_s}) for sample in log]


def clock_step_s(log: Sequence[Sample]) -> float:
    """Return how far the wall clock was set during the log, against the monotonic clock."""
    offsets = [sample.epoch - sample.monotonic for sample in log]
    return max((offset - offsets[0] for offset in offsets), key=abs, default=0.0)


def _contradictions(sample: Sample) -> Iterator[str]:
    """Yield the contradictions within a sample, such as readings that are not in order of time."""
    readings = {
        label: reading[0] for label, reading in sample.processes.items() if reading is not None
    }
    times = [("the line", sample.monotonic), *readings.items(), ("host", sample.host[0])]
    for (first, earlier), (second, later) in pairwise(times):
        if later < earlier:
            yield f"{second} was read before {first}: their readings were exchanged"
    if sum(sample.host[3:]) > sample.host[1]:
        yield "a hypervisor took more than was used"
    if sample.memory is not None and sample.memory.available > sample.memory.total:
        yield "more memory is available than the host has"


def _fallen(before: Sample, after: Sample) -> Iterator[str]:
    """Yield counters that are smaller in the later of two samples, and other disagreements."""
    if after.monotonic <= before.monotonic:
        yield "the monotonic clock does not advance"
    if [*before.processes] != [*after.processes]:
        yield "its processes are not those of the line before"
    pairs = [("host", before.host, after.host)]
    for label, earlier in before.processes.items():
        later = after.processes.get(label)
        if earlier is not None and later is not None:
            pairs.append((label, earlier[:3], later[:3]))
    for label, old, new in pairs:
        if new[0] <= old[0] or any(now < then for then, now in zip(old, new, strict=False)):
            yield f"the counters of {label} fell: it is another process than before"
    if len(before.host) != len(after.host):
        yield "only some samples have the time that a hypervisor took"
    if (before.yardstick_s is None) != (after.yardstick_s is None):
        yield "only some samples have the speed of the cores"
    yield from _fallen_network(before.network, after.network)
    yield from _fallen_swap(before.memory, after.memory)


def _fallen_network(before: Network | None, after: Network | None) -> Iterator[str]:
    if before is None or after is None:
        if before is not after:
            yield "only some samples have counters of the network"
        return
    if after.at <= before.at:
        yield "the counters of the network are not later than those before"
    if after.speeds != before.speeds:
        yield "the speeds of the network, which the probe asks for once, are others than before"
    if (LOOPBACK in before.bytes) != (LOOPBACK in after.bytes):
        yield f"only some samples have counters of {LOOPBACK}"
    for interface, old in before.bytes.items():
        new = after.bytes.get(interface, old)
        if new[0] < old[0] or new[1] < old[1]:
            yield f"the counters of {interface} fell"
    yield from _fallen_segments(before.segments, after.segments)


def _fallen_segments(before: Segments | None, after: Segments | None) -> Iterator[str]:
    if before is None or after is None:
        return
    if len(before) != len(after):
        yield "only some samples have the segments that had arrived already"
    elif any(new < old for old, new in zip(before, after, strict=True)):
        yield "the counters of TCP fell"


def _fallen_swap(before: Memory | None, after: Memory | None) -> Iterator[str]:
    if before is None or after is None:
        if before is not after:
            yield "only some samples have the memory"
    elif after.swapped_in < before.swapped_in or after.swapped_out < before.swapped_out:
        yield "the counters of swap fell"


def reading_of(sample: Sample, label: str) -> Usage | None:
    """Return the usage of a process, or of the whole host; None when it had ended."""
    if label == WHOLE_HOST:
        at, busy, system, *stolen = sample.host
        memory = sample.memory
        in_use = None if memory is None else memory.total - memory.available
        return at, busy, system, in_use, next(iter(stolen), None)
    reading = sample.processes.get(label)
    if reading is None:
        return None
    at, user, system, rss = reading
    return at, user + system, system, rss, None

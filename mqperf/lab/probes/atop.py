"""The atop probe: a second record of the CPU that the processes of a run used, by another program.

Its program is ``atop_recorder.py``.  The psutil probe watches the same processes, so what atop says
is in no table of the run: it is compared, and there for whoever asks.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from os import SEEK_END
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mqperf.base import raw
from mqperf.base.errors import ProbeError
from mqperf.hosts.software import ALONE
from mqperf.lab.probes.probe import Probe, Program, Task, options
from mqperf.onhost.probes import atop_recorder
from mqperf.record import Whole
from mqperf.record.logs import psutil_log
from mqperf.record.logs.atop_text import (
    MACHINE,
    RESET,
    SEPARATOR,
    Interval,
    Named,
    blocks,
    host_of,
    interval,
    rows,
    together,
    used,
)
from mqperf.study.probes import atop_log, psutil_tables

if TYPE_CHECKING:
    import pandas as pd

PROGRAM = Path(atop_recorder.__file__)
TARGETS = "atop.targets"
LOG, PIDS, TEXT = "atop.log", "atop.json", "atop.txt"
"""What it said itself, which processes were meant, and what was recorded of them."""

PROCESS = re.compile(
    rb"PRC (?:\S+ ){5}(\d+) \(.*\) \S ([1-9]\d*) (\d+) (\d+) (?:-?\d+ ){6}\1 y(?: .*)?"
)
"""Process id; ticks a second, in user, in system.  The name may hold blanks and brackets."""

NEAR_S = 0.2
"""A sample of psutil so near to a whole second is taken for one at it."""

PROCESS_COUNTERS = 2
"""User and system of a process."""

TICK_S = 0.01
MISSING_S = 2
"""By its stamps a whole record may begin or end so much inside the load."""

AT_LEAST_S = 2
"""Shorter records are not compared: the ends are all of them."""

Pid = Annotated[int, Field(gt=0, le=2**31)]


class Chosen(BaseModel):
    """What ``atop_recorder.py`` says of its record."""

    model_config = ConfigDict(frozen=True, strict=True)

    version: str
    processes: Mapping[str, list[Pid]]


@dataclass(frozen=True, slots=True)
class Recorded:
    """A record of one host: the processes by label, and what they used, by label, too."""

    chosen: Chosen
    intervals: Sequence[Interval]


def program(task: Task) -> Program:
    """Start the recorder, which waits for the start file and stops by itself.

    atop must not switch the kernel's process accounting on, which outlives it: ``ATOPACCT``.
    """
    machine = task.machine
    program = str(machine.copied(PROGRAM))
    argv = (machine.python, *ALONE, program, *options(task, TARGETS))
    targets = json.dumps([asdict(target) for target in task.targets])
    env = {"LANG": "C.UTF-8", "PATH": machine.path, "ATOPACCT": ""}
    return Program(argv, env, {TARGETS: targets})


def check(folder: Path, _host: str) -> None:
    """Raise ``ProbeError`` unless the folder of a host holds a sound record."""
    recorded(folder)


def recorded(folder: Path) -> Recorded:
    """The record in the folder of a host.

    Raises ``ProbeError`` with file and line for one that is missing, cut short or no such record.
    """
    chosen, file = _chosen(folder / PIDS), folder / TEXT
    labels = {b"%d" % pid: label for label, pids in chosen.processes.items() for pid in pids}
    found: list[Interval] = []
    line = 1
    try:
        for block in blocks(file):
            found += _of_block(file, line, block, labels)
            if len(found) > 1 and found[-1].start != found[-2].end:
                raise ProbeError(f"{file}:{line}: does not begin where the block before it ended")
            line += block.count(b"\n") + 2
        if not _is_whole(file):
            raise ProbeError(f"{file}:{max(1, line - 1)}: cut short: the last line is not SEP")
    except OSError as error:
        raise ProbeError(f"{file}: no record of atop: {error.strerror}") from None
    return Recorded(chosen, found)


def _is_whole(file: Path) -> bool:
    """Whether its last block is closed."""
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


def _of_block(
    file: Path, line: int, block: bytes, labels: Mapping[bytes, str]
) -> Iterator[Interval]:
    """The interval of a block that begins in this line; none where it counts from the boot on."""
    own: dict[str, list[tuple[float, float]]] = {label: [] for label in labels.values()}
    for number, text in enumerate(block.split(b"\n"), line):
        if text + b"\n" == RESET or text.startswith(b"CPU "):
            continue
        process = PROCESS.fullmatch(text)
        if process is None or process[1] not in labels:
            raise ProbeError(f"{file}:{number}: no line of atop about a process of the run")
        own[labels[process[1]]].append(used(*map(int, process.groups()[1:])))
    host = host_of(block)
    if host is None:
        raise ProbeError(f"{file}:{line}: a block without a line CPU of atop")
    if not block.startswith(RESET):
        yield interval(host, {label: together(some) for label, some in own.items()})


def overlapping(run: Whole) -> "Mapping[str, pd.DataFrame]":
    """Rows of the table ``cpu``, as atop counted them; raises as ``recorded`` does."""
    import pandas as pd

    frames = []
    for folder in _folders(run):
        found, kinds, host = recorded(folder), run.facts.kinds, folder.name
        known = [label for label in kinds if label in found.chosen.processes]
        names = {label: Named(label, kinds[label], host) for label in known}
        own = f"host {host}" if len(run.facts.hosts) > 1 else "host"
        names[MACHINE] = Named(own, "host", host)
        frames.append(rows(found.intervals, names, run.window, run.clock(host).offset_s))
    return {"cpu": pd.concat(frames or [pd.DataFrame()])}


def disagreements(run: Whole) -> Iterator[str]:
    """Processes which by psutil used other than by atop, beyond what both can tell.

    Machines are not compared: of those atop has what the kernel found at its ticks, and psutil what
    it measured.  Raises as ``recorded`` does.
    """
    logs = psutil_tables.logs(run)
    for folder in _folders(run):
        found, host = recorded(folder), folder.name
        name = (folder / TEXT).relative_to(run.run.path)
        ahead_s = run.clock(host).offset_s
        begin, end = (instant + ahead_s for instant in run.load)
        stamps = [one.end for one in found.intervals] or [0]
        if stamps[0] > begin + MISSING_S or stamps[-1] < end - MISSING_S:
            yield f"{name}: its samples are not of the whole load"
        samples = logs.get(folder / psutil_log.LOG, ())
        for label, pids in found.chosen.processes.items():
            counted = _counted(samples, label, ahead_s)
            rounding_s = len(pids) * PROCESS_COUNTERS * TICK_S
            if reason := _apart(label, found.intervals, counted, rounding_s):
                yield f"{name}: {reason}"


def _folders(run: Whole) -> list[Path]:
    """Of the hosts on which the probe was started."""
    return [log.parent for log in sorted((run.run.path / "probes").glob(f"*/{LOG}"))]


Counted = Sequence[tuple[float, float]]
"""Instants by the clock of the host, and seconds of CPU until then."""


def _counted(samples: Sequence[psutil_log.Sample], label: str, ahead_s: float) -> Counted:
    """By psutil; none of a process that was gone at some time."""
    found = []
    for one in samples:
        reading = one.processes.get(label)
        if reading is None:
            return ()
        at = one.epoch + ahead_s + reading[0] - one.monotonic
        found.append((at, reading[1] + reading[2]))
    return found


def _apart(
    label: str, intervals: Sequence[Interval], counted: Counted, rounding_s: float
) -> str | None:
    """The contradiction between two records of a process; None where both can be true.

    atop's sample with the stamp ``s`` was taken at some time from ``s`` to ``s + 1``; so by the
    counters of psutil, which only grow, a least and a most follow for what it may have counted.
    """
    if len(counted) < AT_LEAST_S:
        return None
    first, last = counted[0][0], counted[-1][0]
    both = [
        one for one in intervals if one.start + NEAR_S >= first and one.end + 1 - NEAR_S <= last
    ]
    if sum(one.seconds for one in both) < AT_LEAST_S:
        return None
    begin, end = both[0].start, both[-1].end
    by_atop = sum(one.used[label][0] for one in both)
    slack_s = rounding_s + 2 * NEAR_S * _fastest(counted)
    least = max(0.0, _until(counted, end) - _after(counted, begin + 1) - slack_s)
    most = _after(counted, end + 1) - _until(counted, begin) + slack_s
    if least <= by_atop <= most:
        return None
    return (
        f"{label} used {by_atop:.2f} s of CPU in {end - begin} s by atop, {least:.2f} to {most:.2f}"
        " s by psutil"
    )


def _until(counted: Counted, instant: float) -> float:
    """Seconds of CPU at the last reading that is not after the instant."""
    return max(used_s for at, used_s in counted if at <= instant + NEAR_S)


def _after(counted: Counted, instant: float) -> float:
    """The same at the first that is not before it."""
    return min(used_s for at, used_s in counted if at >= instant - NEAR_S)


def _fastest(counted: Counted) -> float:
    """The most cores that were used between two readings."""
    return max((b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(counted))


PROBE = Probe(
    name="atop",
    program=program,
    check=check,
    read=atop_log.tables,
    events=atop_log.unread,
    disagreements=disagreements,
    overlapping=overlapping,
    programs={"atop": "atop"},
)

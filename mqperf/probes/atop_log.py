"""What atop recorded on a broker's host that mqperf does not watch, as ``-P PRC,CPU`` prints it.

Columns are counted from the left, up to the system time and the mark of a process, where atop 2.1
to 2.13 agree: man page of atop, section on parseable output.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mqperf import raw
from mqperf.errors import MqperfError, ProbeError
from mqperf.probes.probe import Probe, no_check
from mqperf.record import Whole

if TYPE_CHECKING:
    import pandas as pd

FOLDER = "atop"
"""Beside the run folders: the records of hosts that mqperf does not watch, ``NODE.txt`` each."""

BROKERS = ("beam.smp", "java", "qdrouterd", "qpidd", "redis-server")
"""Programs that brokers are."""

HOST = re.compile(rb"CPU \S+ (\d+) \S+ \S+ ([1-9]\d*) ([1-9]\d*) (\d+) ((?:\d+ ){7}\d+)")
"""End in epoch seconds, seconds, ticks a second, cores; then ticks: system, user, nice, ..."""

HEAD, MARK = 7, 11
"""Words of a process before its name, and after it those before the mark: threads have no ``y``."""

BROKER = re.compile(rb"\((?:" + b"|".join(re.escape(name.encode()) for name in BROKERS) + rb")\) ")
"""Of the hundreds of lines of a second only those with it are looked at."""

SEPARATOR = b"\nSEP\n"
CHUNK_BYTES = 256 * 1024
BLOCK_LIMIT_BYTES = 64 * raw.MIB
"""Of one sample: hundreds of thousands of processes."""

SLACK_S = 0.5
"""How far an interval may reach out of the window; atop's instants are whole seconds."""


Used = tuple[float, float]
"""Seconds of CPU, and those of them in system."""


@dataclass(frozen=True, slots=True)
class Interval:
    """What a host did between two samples, by kind: broker, host."""

    end: int
    seconds: int
    cores: int
    used: Mapping[str, Used]

    @property
    def start(self) -> int:
        """Its begin in epoch seconds."""
        return self.end - self.seconds


def read(file: Path, label: str, window: tuple[float, float]) -> "pd.DataFrame":
    """Rows of the ``cpu`` table: the broker called ``label`` and its host, by interval and window.

    All programs of ``BROKERS`` on the host are that broker.  An idle process, which atop may leave
    out, used nothing.  There is no row for the window when a second of it is missing.  Raises
    ``ProbeError`` for a file that is no such record, or knows no broker.
    """
    import pandas as pd

    begin, end = window
    try:
        known = intervals(file, file.stat().st_mtime_ns)
    except OSError as error:
        raise ProbeError(f"{file}: cannot be read: {error.strerror}") from None
    inside = [one for one in known if one.start >= begin - SLACK_S and one.end <= end + SLACK_S]
    parts = [("interval", [one]) for one in inside]
    if sum(one.seconds for one in inside) >= end - begin - SLACK_S:
        parts.append(("window", inside))
    return pd.DataFrame(
        [
            {"scope": scope, **_row(label, kind, some, begin)}
            for scope, some in parts
            for kind in ("broker", "host")
        ]
    )


@cache
def intervals(file: Path, _written_ns: int) -> tuple[Interval, ...]:
    """Every interval of the record but the first after a reset, which counts from the boot on."""
    found, known = [], False
    for block in _blocks(file):
        reset = block.startswith(b"RESET\n")
        host = HOST.match(block, len(b"RESET\n") if reset else 0) or _host(block)
        if host is None:
            raise ProbeError(f"{file}: a block without a line CPU: print it with atop -P PRC,CPU")
        own = list(_brokers(block))
        known = known or bool(own)
        if not reset:
            found.append(_interval(host, own))
    if not known:
        raise ProbeError(f"{file}: no broker in it: no process is called {', '.join(BROKERS)}")
    return tuple(found)


def _blocks(file: Path) -> Iterator[bytes]:
    """What stands between separators, one sample after the other, whatever the file's length."""
    rest = b""
    with raw.opened(file) as lines:
        while chunk := lines.read(CHUNK_BYTES):
            *whole, rest = (rest + chunk).split(SEPARATOR)
            if len(rest) > BLOCK_LIMIT_BYTES:
                raise ProbeError(f"{file}: {len(rest)} bytes without a line SEP: no record of atop")
            yield from filter(None, whole)
    if rest := rest.removesuffix(b"SEP\n").rstrip(b"\n"):
        yield rest


def _host(block: bytes) -> re.Match[bytes] | None:
    """The line CPU, where it is not the first."""
    at = block.find(b"\nCPU ")
    return HOST.match(block, at + 1) if at >= 0 else None


def _brokers(block: bytes) -> Iterator[Used]:
    """What every process used that is a broker by its whole name, which may hold blanks itself."""
    for name in BROKER.finditer(block):
        start = block.rfind(b"\n", 0, name.start()) + 1
        end = block.find(b"\n", name.end())
        head = block[start : name.start()].split(b" ")
        tail = block[name.end() : end if end >= 0 else len(block)].split(b" ", MARK + 1)
        whole = len(head) == HEAD + 1 and head[0] == b"PRC" and len(tail) > MARK
        if whole and tail[MARK] == b"y" and all(map(bytes.isdigit, tail[1:4])):
            hertz, user, system = map(int, tail[1:4])
            yield (user + system) / hertz, system / hertz


def _interval(host: re.Match[bytes], own: Sequence[Used]) -> Interval:
    hertz = int(host[3])
    system, user, nice, _idle, _wait, irq, softirq, steal = map(int, host[5].split()[:8])
    in_system = system + irq + softirq
    busy = (user + nice + in_system + steal) / hertz, in_system / hertz
    brokers = sum(total for total, _ in own), sum(part for _, part in own)
    return Interval(int(host[1]), int(host[2]), int(host[4]), {"broker": brokers, "host": busy})


def _row(label: str, kind: str, intervals: list[Interval], begin: float) -> dict[str, object]:
    seconds = sum(one.seconds for one in intervals)
    used = [one.used[kind] for one in intervals]
    return {
        "process": label if kind == "broker" else f"host {label}",
        "kind": kind,
        "host": label,
        "cores": intervals[0].cores,
        "start_s": intervals[0].start - begin,
        "end_s": intervals[-1].end - begin,
        "total_cores": sum(total for total, _ in used) / seconds,
        "sys_cores": sum(system for _, system in used) / seconds,
    }


def tables(run: Whole) -> "Mapping[str, pd.DataFrame]":
    """Rows of the table ``cpu``: of every file beside the run folders, named after its node.

    One that cannot be read gives none: it is of many runs, all else of which stands without it.
    """
    import pandas as pd

    names = {node.name: node.label for node in run.facts.system.nodes}
    frames = [
        read(log, names.get(log.stem, log.stem), run.window)
        for log in _records(run.run.path)
        if _problem(log) is None
    ]
    return {"cpu": pd.concat(frames or [pd.DataFrame()])}


def unread(run: Path, _begin: float) -> Iterator[dict[str, Any]]:
    """Rows of the table ``events``: the files of which nothing is in the table ``cpu``, and why."""
    for log in _records(run):
        if reason := _problem(log):
            detail = json.dumps({"reason": reason}, ensure_ascii=False)
            yield {"time_s": None, "host": log.stem, "what": "unread", "detail": detail}


def _records(run: Path) -> list[Path]:
    return sorted((run.parent / FOLDER).glob("*.txt"))


def _problem(log: Path) -> str | None:
    """Why a record cannot be read, with names as they are in the runs folder."""
    try:
        read(log, log.stem, (0.0, 1.0))
    except MqperfError as error:
        return str(error).replace(f"{log.parent.parent}/", "")
    return None


PROBE = Probe(name="atop", program=None, check=no_check, read=tables, events=unread)

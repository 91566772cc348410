"""What atop recorded on a broker's host that mqperf does not watch, as ``-P PRC,CPU`` prints it.

Columns are counted from the left, up to the system time and the mark of a process, where atop 2.1
to 2.13 agree: man page of atop, section on parseable output.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import groupby
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

HOST = re.compile(r"CPU \S+ (\d+) \S+ \S+ ([1-9]\d*) ([1-9]\d*) (\d+) ((?:\d+ ){7}\d+)")
"""End in epoch seconds, seconds, ticks a second, cores; then ticks: system, user, nice, ..."""

PROCESS = re.compile(
    r"PRC \S+ (\d+) \S+ \S+ (\d+) \d+ \((.*)\) [A-Za-z] ([1-9]\d*) (\d+) (\d+) (?:\S+ ){7}y\b"
)
"""End, seconds, program, ticks a second, user and system ticks; threads have ``n`` for ``y``."""

SLACK_S = 0.5
"""How far an interval may reach out of the window; atop's instants are whole seconds."""


@dataclass(frozen=True, slots=True)
class Interval:
    """What a host did between two samples: kind (broker, host) -> seconds of CPU, and in system."""

    end: int
    seconds: int
    cores: int
    used: Mapping[str, tuple[float, float]]

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
        known = _intervals(file, file.stat().st_mtime_ns)
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
def _intervals(file: Path, _written_ns: int) -> tuple[Interval, ...]:
    """Every interval of the record but the first after a reset, which counts from the boot on."""
    lines = raw.content(file).decode(errors="replace").splitlines()
    found, known = [], False
    for reset, block in _blocks(lines):
        host = next(filter(None, map(HOST.match, block)), None)
        if host is None:
            raise ProbeError(f"{file}: a block without a line CPU: print it with atop -P PRC,CPU")
        own = [p for p in map(PROCESS.match, block) if p and p[3] in BROKERS]
        known = known or bool(own)
        if not reset:
            found.append(_interval(host, own))
    if not known:
        raise ProbeError(f"{file}: no broker in it: no process is called {', '.join(BROKERS)}")
    return tuple(found)


def _blocks(lines: list[str]) -> Iterator[tuple[bool, list[str]]]:
    """The lines between separators, and whether a reset stands before them."""
    for separator, group in groupby(lines, key=lambda line: line == "SEP"):
        if not separator:
            block = list(group)
            yield block[0] == "RESET", block


def _interval(host: re.Match[str], own: list[re.Match[str]]) -> Interval:
    hertz = int(host[3])
    system, user, nice, _idle, _wait, irq, softirq, steal = map(int, host[5].split()[:8])
    in_system = system + irq + softirq
    busy = (user + nice + in_system + steal) / hertz, in_system / hertz
    used = [(int(p[5]) / int(p[4]), int(p[6]) / int(p[4])) for p in own]
    brokers = sum(u + s for u, s in used), sum(s for _, s in used)
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

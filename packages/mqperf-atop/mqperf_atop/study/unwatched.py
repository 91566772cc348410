"""Records by atop of a broker's host that mqperf does not watch."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from mqperf.base.errors import MqperfError, ProbeError
from mqperf.record import Facts, Whole
from mqperf_atop.record.text import (
    MACHINE,
    RESET,
    Interval,
    Named,
    Used,
    blocks,
    host_of,
    interval,
    rows,
    together,
    used,
)

FOLDER = "atop"
"""Beside the run folders: the records of hosts that mqperf does not watch, ``NODE.txt`` each."""

BROKERS = ("beam.smp", "java", "qdrouterd", "qpidd", "redis-server")
"""Names of brokers' processes."""

HEAD, MARK = 7, 11
"""Fields of a process before its name, and from there to the mark, ``y`` except for threads."""

BROKER = re.compile(rb"\((?:" + b"|".join(re.escape(name.encode()) for name in BROKERS) + rb")\) ")
"""Filter for the hundreds of lines of a second: only matches are parsed."""

BROKER_KEY = "broker"
"""The key of all processes of the broker among those of ``Interval.used``."""


def read(file: Path, label: str, window: tuple[float, float]) -> pd.DataFrame:
    """Return rows of the table ``cpu`` for the broker ``label`` and its host, also over the window.

    All processes with a name in ``BROKERS`` count as that broker.  Raise ``ProbeError`` for an
    invalid record, or one without a broker.
    """
    try:
        spans = intervals(file, file.stat().st_mtime_ns)
    except OSError as error:
        raise ProbeError(f"{file}: cannot be read: {error.strerror}") from None
    names = {
        BROKER_KEY: Named(label, "broker", label),
        MACHINE: Named(f"host {label}", "host", label),
    }
    return rows(spans, names, window)


@cache
def intervals(file: Path, _written_ns: int) -> tuple[Interval, ...]:
    """Return the intervals of a record but the first after a reset, which counts from boot."""
    spans, broker_seen = [], False
    for block in blocks(file):
        host = host_of(block)
        if host is None:
            raise ProbeError(f"{file}: a block without a line CPU: print it with atop -P PRC,CPU")
        uses = list(_brokers(block))
        broker_seen = broker_seen or bool(uses)
        if not block.startswith(RESET):
            spans.append(interval(host, {BROKER_KEY: together(uses)}))
    if not broker_seen:
        raise ProbeError(f"{file}: no broker in it: no process is called {', '.join(BROKERS)}")
    return tuple(spans)


def _brokers(block: bytes) -> Iterator[Used]:
    """Yield the CPU of every process with the full name of a broker; names may have blanks."""
    for name in BROKER.finditer(block):
        start = block.rfind(b"\n", 0, name.start()) + 1
        end = block.find(b"\n", name.end())
        head = block[start : name.start()].split(b" ")
        tail = block[name.end() : end if end >= 0 else len(block)].split(b" ", MARK + 1)
        is_process = len(head) == HEAD + 1 and head[0] == b"PRC" and len(tail) > MARK
        if is_process and tail[MARK] == b"y" and all(map(bytes.isdigit, tail[1:4])):
            yield used(*map(int, tail[1:4]))


def tables(run: Whole) -> Mapping[str, pd.DataFrame]:
    """Return rows of the table ``cpu`` from each file beside the run folders, named by its node.

    An invalid file gives no rows, and no error, as many runs share it and are valid without it.
    """
    names = {node.name: node.label for node in run.facts.system.nodes}
    frames = [
        read(log, names.get(log.stem, log.stem), run.window)
        for log in _records(run.run.path)
        if _problem(log) is None
    ]
    return {"cpu": pd.concat(frames or [pd.DataFrame()])}


def unread(run: Path, _facts: Facts) -> Iterator[dict[str, Any]]:
    """Yield rows of the table ``events``: files that could not be read into ``cpu``, and why."""
    for log in _records(run):
        if reason := _problem(log):
            detail = json.dumps({"reason": reason}, ensure_ascii=False)
            yield {"time_s": None, "host": log.stem, "what": "unread", "detail": detail}


def _records(run: Path) -> list[Path]:
    return sorted((run.parent / FOLDER).glob("*.txt"))


def _problem(log: Path) -> str | None:
    """Return why a record cannot be read, with paths relative to the runs folder; else None."""
    try:
        read(log, log.stem, (0.0, 1.0))
    except MqperfError as error:
        return str(error).replace(f"{log.parent.parent}/", "")
    return None

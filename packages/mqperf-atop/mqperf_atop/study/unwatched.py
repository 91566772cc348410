"""What atop recorded on a broker's host that mqperf does not watch."""

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
"""Programs that brokers are."""

HEAD, MARK = 7, 11
"""Words of a process before its name, and after it those before the mark: threads have no ``y``."""

BROKER = re.compile(rb"\((?:" + b"|".join(re.escape(name.encode()) for name in BROKERS) + rb")\) ")
"""Of the hundreds of lines of a second only those with it are looked at."""

BROKER_KEY = "broker"
"""Of all that the broker's processes used."""


def read(file: Path, label: str, window: tuple[float, float]) -> pd.DataFrame:
    """Rows of the ``cpu`` table: the broker called ``label`` and its host, by interval and window.

    All programs of ``BROKERS`` on the host are that broker.  Raises ``ProbeError`` for a file that
    is no such record, or knows no broker.
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
    """Every interval of the record but the first after a reset, which counts from the boot on."""
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
    """What every process used that is a broker by its whole name, which may hold blanks itself."""
    for name in BROKER.finditer(block):
        start = block.rfind(b"\n", 0, name.start()) + 1
        end = block.find(b"\n", name.end())
        head = block[start : name.start()].split(b" ")
        tail = block[name.end() : end if end >= 0 else len(block)].split(b" ", MARK + 1)
        whole = len(head) == HEAD + 1 and head[0] == b"PRC" and len(tail) > MARK
        if whole and tail[MARK] == b"y" and all(map(bytes.isdigit, tail[1:4])):
            yield used(*map(int, tail[1:4]))


def tables(run: Whole) -> Mapping[str, pd.DataFrame]:
    """Rows of the table ``cpu``: of every file beside the run folders, named after its node.

    One that cannot be read gives none: it is of many runs, all else of which stands without it.
    """
    names = {node.name: node.label for node in run.facts.system.nodes}
    frames = [
        read(log, names.get(log.stem, log.stem), run.window)
        for log in _records(run.run.path)
        if _problem(log) is None
    ]
    return {"cpu": pd.concat(frames or [pd.DataFrame()])}


def unread(run: Path, _facts: Facts) -> Iterator[dict[str, Any]]:
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

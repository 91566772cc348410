"""Find resource alarms and deprecation warnings in the brokers' own logs."""

import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from mqperf.base import raw
from mqperf.base.errors import ProbeError
from mqperf.record import Facts, Whole, read_events
from mqperf.study.probes.reader import ProbeReader

FOLDER = "broker"
"""The folder, in a run folder, of the logs that systems wrote during the run."""

ALARM_PATTERNS = (
    "limit alarm set",  # RabbitMQ: memory, disk, file descriptors; publishers are blocked
    # Erlang: a full link between nodes, pauses of the collector and of the scheduler
    "sysmon_handler (?:busy_dist_port|busy_port|long_gc|long_schedule|large_heap)",
    "to prevent flooding",  # ActiveMQ: memory or store is full; senders are stopped
    "AMQ222038",  # Artemis: an address is paged to disk
    "AMQ222183",  # Artemis: senders to an address are blocked
    "AMQ222210|AMQ222212",  # Artemis: the disk is full
    # Java; an option such as ExitOnOutOfMemoryError, which logs repeat, is no alarm
    "(?<![A-Za-z])OutOfMemoryError|GC overhead limit exceeded",
    "OOM command not allowed",  # Redis
    "Slow Consumer Detected|resource limits exceeded",  # NATS: cut off; a stream takes no more
)
"""Messages of these systems when they throttle senders, or stall, for lack of a resource."""

ALARM = re.compile("|".join(ALARM_PATTERNS))
DEPRECATED = re.compile(r"(?<=Deprecated features: `)\w+(?=`)")
"""The name of a feature that a client uses and a later version of RabbitMQ will not have."""

PATTERNS = {"alarm": ALARM, "deprecated": DEPRECATED}
"""Event name -> pattern of the log lines that make the event."""

STAMP = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+[+-]\d\d:\d\d")
"""A timestamp with a UTC offset; those without are ignored."""

WIDTH = 200

LATE_S, EARLY_S = 1.0, 60.0
"""A log is collected at the end of a run: later entries belong to another run.  The log of the
first run begins with the start of the system, and may also end with it on an idle node."""


def logged(run: Path, facts: Facts) -> Iterator[dict[str, Any]]:
    """Rows of the ``events`` table: one per log and kind of alarm or warning, for its first line.

    ``run`` is a run folder; ``host`` is None if the node that wrote a log is not known; ``detail``
    has the log, its first such line, and their number.  Raises ``ProbeError`` for a log that cannot
    be read.
    """
    hosts = _hosts(facts)
    for log in sorted((run / FOLDER).glob("*.log")):
        lines: dict[tuple[str, str], list[str]] = {}
        for line in _text(log).splitlines():
            for what, pattern in PATTERNS.items():
                if match := pattern.search(line):
                    lines.setdefault((what, match[0]), []).append(line)
        for (what, matched), hits in lines.items():
            feature = {"feature": matched} if what == "deprecated" else {}
            detail = {"log": log.name, "times": len(hits), "line": hits[0].strip()[:WIDTH]}
            yield {
                "time_s": _instant(hits[0]),
                "host": hosts.get(log.name),
                "what": what,
                "detail": json.dumps({**feature, **detail}, ensure_ascii=False),
            }


def disagreements(run: Whole) -> Iterator[str]:
    """Yield logs of unknown nodes, and logs with timestamps that end before or after the run."""
    yield from _of_unknown_nodes(run)
    events = read_events(run.run.path)
    if not events:
        return
    hosts = _hosts(run.facts)
    begin, end = events[0].epoch, max(events[-1].epoch, _epoch(run.facts.stopped))
    for log in sorted((run.run.path / FOLDER).glob("*.log")):
        ahead_s = run.facts.clock(hosts.get(log.name)).offset_s
        instants = (_instant(line) for line in reversed(_text(log).splitlines()))
        last = next((epoch - ahead_s for epoch in instants if epoch is not None), end)
        if last > end + LATE_S:
            yield f"{FOLDER}/{log.name}: ends {last - end:.1f} s after the run"
        if last < begin - EARLY_S:
            yield f"{FOLDER}/{log.name}: ends {begin - last:.1f} s before the run"


def _of_unknown_nodes(run: Whole) -> Iterator[str]:
    """Logs whose names equal those of the run's nodes, but for a number that no node has."""
    known = {node.log for node in run.facts.system.nodes if node.log is not None}
    for log in sorted((run.run.path / FOLDER).glob("*.log")):
        if log.name not in known and sort_of(log.name) in {*map(sort_of, known)}:
            yield f"{FOLDER}/{log.name}: run.json knows no node whose log it is"


def sort_of(log: str) -> str:
    """The name of a log without its number: the same for all nodes of a kind."""
    return re.sub(r"\d+", "", log)


def _epoch(text: str | None) -> float:
    """The timestamp in epoch seconds; 0 if it is missing or invalid."""
    try:
        return datetime.fromisoformat(text or "").timestamp()
    except ValueError:
        return 0.0


def _text(log: Path) -> str:
    try:
        return raw.content(log).decode(errors="replace")
    except OSError as error:
        raise ProbeError(f"{log}: cannot be read: {error.strerror}") from None


def _hosts(facts: Facts) -> dict[str, str]:
    """Log -> the host whose clock it uses, for logs whose node and host are known."""
    return {
        node.log: node.host for node in facts.system.nodes if node.log and node.host is not None
    }


def _instant(line: str) -> float | None:
    stamp = STAMP.match(line)
    try:
        return datetime.fromisoformat(stamp[0]).timestamp() if stamp else None
    except ValueError:
        return None


READER = ProbeReader("broker-log", events=logged, disagreements=disagreements)

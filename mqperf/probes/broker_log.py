"""What brokers say in their own logs of running short: memory, disk, collectors, full links."""

import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from mqperf import raw
from mqperf.errors import ProbeError

SIGNS = (
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
)
"""What these systems write when they hold senders back, or stand still, for want of something."""

ALARM = re.compile("|".join(SIGNS))
STAMP = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+[+-]\d\d:\d\d")
"""A time that says its zone; others are not taken for instants."""

WIDTH = 200


def alarms(folder: Path, begin: float) -> Iterator[dict[str, Any]]:
    """Rows of the ``events`` table: one per log in ``folder`` and sort of alarm, the first of each.

    ``begin`` is the start of the measured window in epoch seconds; ``detail`` tells the log, the
    first such line, and how many there are.  Raises ``ProbeError`` for a log that cannot be read.
    """
    for log in sorted(folder.glob("*.log")):
        lines: dict[str, list[str]] = {}
        for line in _text(log).splitlines():
            if found := ALARM.search(line):
                lines.setdefault(found[0], []).append(line)
        for some in lines.values():
            yield {
                "time_s": _instant(some[0], begin),
                "host": None,
                "what": "alarm",
                "detail": json.dumps(
                    {"log": log.name, "times": len(some), "line": some[0].strip()[:WIDTH]},
                    ensure_ascii=False,
                ),
            }


def ends(folder: Path) -> dict[str, float]:
    """When each log in ``folder`` ends, in epoch seconds; only those whose instants say the zone.

    Raises ``ProbeError`` for a log that cannot be read.
    """
    known = {}
    for log in sorted(folder.glob("*.log")):
        lines = reversed(_text(log).splitlines())
        instants = (_instant(line, 0.0) for line in lines)
        if (last := next((at for at in instants if at is not None), None)) is not None:
            known[log.name] = last
    return known


def _text(log: Path) -> str:
    try:
        return raw.content(log).decode(errors="replace")
    except OSError as error:
        raise ProbeError(f"{log}: cannot be read: {error.strerror}") from None


def _instant(line: str, begin: float) -> float | None:
    stamp = STAMP.match(line)
    try:
        return datetime.fromisoformat(stamp[0]).timestamp() - begin if stamp else None
    except ValueError:
        return None

"""What brokers say in their own logs: that they run short, and of what is deprecated."""

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
"""In a run folder: what systems logged during the run."""

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
    "Slow Consumer Detected|resource limits exceeded",  # NATS: cut off; a stream takes no more
)
"""What these systems write when they hold senders back, or stand still, for want of something."""

ALARM = re.compile("|".join(SIGNS))
DEPRECATED = re.compile(r"(?<=Deprecated features: `)\w+(?=`)")
"""How RabbitMQ names what a client uses, and a later version will not have."""

SORTS = {"alarm": ALARM, "deprecated": DEPRECATED}
"""What is looked for in logs, by what events call it."""

STAMP = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+[+-]\d\d:\d\d")
"""A time that says its zone; others are not taken for instants."""

WIDTH = 200

LATE_S, EARLY_S = 1.0, 60.0
"""A log is collected at the end of a run, and what it says of later instants is of another one.
That of the first run begins with the start of the system, and may end with it on an idle node."""


def logged(run: Path, facts: Facts) -> Iterator[dict[str, Any]]:
    """Rows of the ``events`` table: one per log and sort of alarm or warning, the first of each.

    ``run`` is a run folder; ``host`` is None where it is not told which node wrote a log;
    ``detail`` tells the log, the first such line, and how many there are.  Raises ``ProbeError``
    for a log that cannot be read.
    """
    hosts = _hosts(facts)
    for log in sorted((run / FOLDER).glob("*.log")):
        lines: dict[tuple[str, str], list[str]] = {}
        for line in _text(log).splitlines():
            for what, signs in SORTS.items():
                if found := signs.search(line):
                    lines.setdefault((what, found[0]), []).append(line)
        for (what, sign), hits in lines.items():
            named = {"feature": sign} if what == "deprecated" else {}
            detail = {"log": log.name, "times": len(hits), "line": hits[0].strip()[:WIDTH]}
            yield {
                "time_s": _instant(hits[0]),
                "host": hosts.get(log.name),
                "what": what,
                "detail": json.dumps({**named, **detail}, ensure_ascii=False),
            }


def disagreements(run: Whole) -> Iterator[str]:
    """Logs of no node; and those that end before the run began, or after, if they say the zone."""
    yield from _of_nobody(run)
    events = read_events(run.run.path)
    if not events:
        return
    hosts = _hosts(run.facts)
    begin, end = events[0].epoch, max(events[-1].epoch, _epoch(run.facts.stopped))
    for log in sorted((run.run.path / FOLDER).glob("*.log")):
        ahead_s = run.facts.clock(hosts.get(log.name)).offset_s
        instants = (_instant(line) for line in reversed(_text(log).splitlines()))
        last = next((at - ahead_s for at in instants if at is not None), end)
        if last > end + LATE_S:
            yield f"{FOLDER}/{log.name}: ends {last - end:.1f} s after the run"
        if last < begin - EARLY_S:
            yield f"{FOLDER}/{log.name}: ends {begin - last:.1f} s before the run"


def _of_nobody(run: Whole) -> Iterator[str]:
    """Logs of nodes that the run does not have: they are called as those of others, by a number."""
    known = {node.log for node in run.facts.system.nodes if node.log is not None}
    for log in sorted((run.run.path / FOLDER).glob("*.log")):
        if log.name not in known and sort_of(log.name) in {*map(sort_of, known)}:
            yield f"{FOLDER}/{log.name}: run.json knows no node whose log it is"


def sort_of(log: str) -> str:
    """What the logs of nodes that are alike have in common: the name but for its number."""
    return re.sub(r"\d+", "", log)


def _epoch(text: str | None) -> float:
    """The instant in epoch seconds; long ago, if it is none."""
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
    """The host whose clock a log is by; nothing of one whose node is not told."""
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

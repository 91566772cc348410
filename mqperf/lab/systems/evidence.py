"""What servers leave as evidence: their last words, and their logs run by run."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mqperf.hosts import Host

COLLECTED_LOG_BYTES = 1_000_000
LINES, WIDTH = 8, 200
"""Of a log that ended badly: so many lines, and so many characters of each."""

Redact = Callable[[str], str]
"""Takes the secrets out of a text."""


def last_lines(host: Host, log: Path, redact: Redact = str) -> str:
    """Quote the end of a log, without secrets and without the frames of Java's stack traces."""
    logged = redact(text(host, log)).splitlines()  # whole: a part of a secret is not known as one
    lines = [line.rstrip() for line in logged if not line.startswith("\tat ")]
    last = [line[:WIDTH] for line in lines if line][-LINES:]
    return "\n  ".join(["its log ends:", *last] if last else ["its log is empty"])


def text(host: Host, log: Path, start: int = 0) -> str:
    """All that a server has logged until now, from a position on."""
    return host.read(log, start).decode("utf-8", errors="replace")


@dataclass(slots=True)
class LogReader:
    """Reads a growing log piece by piece, so that each run gets its own part."""

    host: Host
    log: Path
    position: int = 0

    def read_on(self) -> str:
        """Give what was logged since the last call, at most the last megabyte of it."""
        first = max(self.position, self.host.size(self.log) - COLLECTED_LOG_BYTES)
        part = self.host.read(self.log, first)
        left_out, self.position = first - self.position, first + len(part)
        note = f"({left_out} bytes left out)\n" if left_out else ""
        return note + part.decode("utf-8", errors="replace")

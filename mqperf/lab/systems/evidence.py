"""Evidence from servers: the last lines of their logs, and their logs run by run."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mqperf.hosts import Host

COLLECTED_LOG_BYTES = 1_000_000
LINES, WIDTH = 8, 200
"""Maximum lines of a failed server's log in an error message, and characters per line."""

Redact = Callable[[str], str]
"""Replaces the secrets in a text."""


def last_lines(host: Host, log: Path, redact: Redact = str) -> str:
    """Return the last lines of a log, without secrets and frames of Java stack traces."""
    logged = redact(text(host, log)).splitlines()  # of all: a part of a secret does not match
    lines = [line.rstrip() for line in logged if not line.startswith("\tat ")]
    last = [line[:WIDTH] for line in lines if line][-LINES:]
    return "\n  ".join(["its log ends:", *last] if last else ["its log is empty"])


def text(host: Host, log: Path, start: int = 0) -> str:
    """Return the current log of a server from byte ``start`` on."""
    return host.read(log, start).decode("utf-8", errors="replace")


@dataclass(slots=True)
class LogReader:
    """Reads a growing log piece by piece, so that each run gets its own part."""

    host: Host
    log: Path
    position: int = 0

    def read_on(self) -> str:
        """Return what was logged since the last call, at most the last megabyte of it."""
        first = max(self.position, self.host.size(self.log) - COLLECTED_LOG_BYTES)
        content = self.host.read(self.log, first)
        skipped, self.position = first - self.position, first + len(content)
        note = f"({skipped} bytes left out)\n" if skipped else ""
        return note + content.decode("utf-8", errors="replace")

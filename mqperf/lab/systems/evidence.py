"""What servers leave as evidence: how one ended, its last words, its log run by run."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mqperf.base.errors import SystemFault
from mqperf.hosts import Host, Process

COLLECTED_LOG_BYTES = 1_000_000

Redact = Callable[[str], str]
"""Takes the secrets out of a text."""


def check_alive(host: Host, process: Process, title: str, redact: Redact = str) -> None:
    """Raise ``SystemFault`` with the last lines of its log when the process has ended."""
    code = process.poll()
    if code is not None:
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        raise SystemFault(f"{title} {how}; {last_lines(host, process.log, redact)}")


def last_lines(
    host: Host, log: Path, redact: Redact = str, count: int = 8, width: int = 200
) -> str:
    """Quote the end of a log, without secrets and without the frames of Java's stack traces."""
    lines = [line.rstrip() for line in text(host, log).splitlines() if not line.startswith("\tat ")]
    last = [line[:width] for line in lines if line][-count:]
    return redact("\n  ".join(["its log ends:", *last] if last else ["its log is empty"]))


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

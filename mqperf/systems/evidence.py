"""What servers leave as evidence: how one ended, its last words, its memory, its log run by run."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from mqperf.errors import SystemFault
from mqperf.guarded import scratch_errors
from mqperf.hosts import Process

COLLECTED_LOG_BYTES = 1_000_000
PAGE_BYTES = 4096

Redact = Callable[[str], str]
"""Takes the secrets out of a text."""


def check_alive(process: Process, title: str, redact: Redact = str) -> None:
    """Raise ``SystemFault`` with the last lines of its log when the process has ended."""
    code = process.poll()
    if code is not None:
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        raise SystemFault(f"{title} {how}; {last_lines(process.log, redact)}")


def last_lines(log: Path, redact: Redact = str, count: int = 8, width: int = 200) -> str:
    """Quote the end of a log, without secrets and without the frames of Java's stack traces."""
    lines = [line.rstrip() for line in text(log).splitlines() if not line.startswith("\tat ")]
    last = [line[:width] for line in lines if line][-count:]
    return redact("\n  ".join(["its log ends:", *last] if last else ["its log is empty"]))


def text(log: Path) -> str:
    """All that a server has logged until now."""
    return log.read_text(encoding="utf-8", errors="replace")


def rss_bytes(process: Process) -> int | None:
    """Memory that a process holds; None when it is gone."""
    with suppress(psutil.NoSuchProcess):
        return int(psutil.Process(process.pid).memory_info().rss)
    return None


def check_room(folder: Path) -> None:
    """Raise ``HostError`` when nothing more can be written there: servers tell nobody."""
    probe = folder / ".room"
    try:
        with scratch_errors(folder):
            probe.write_bytes(bytes(PAGE_BYTES))
    finally:
        with suppress(OSError):
            probe.unlink(missing_ok=True)


@dataclass(slots=True)
class LogReader:
    """Reads a growing log piece by piece, so that each run gets its own part."""

    log: Path
    position: int = 0

    def read_on(self) -> str:
        """Give what was logged since the last call, at most the last megabyte of it."""
        with self.log.open("rb") as file:
            size = file.seek(0, 2)
            first = max(self.position, size - COLLECTED_LOG_BYTES)
            file.seek(first)
            part = file.read(size - first).decode("utf-8", errors="replace")
        left_out = first - self.position
        self.position = size
        return (f"({left_out} bytes left out)\n" if left_out else "") + part

"""Processes of a host as its kernel tells of them, without psutil."""

import os
from pathlib import Path

TICKS_PER_S, PAGE_BYTES = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
PARENT, STARTED = 1, 19
"""Places in ``/proc/PID/stat``, counted after the name."""


def create_time(pid: int) -> float | None:
    """When a process was started, in epoch seconds; None when it is gone."""
    fields = _stat(pid)
    return _boot_time() + int(fields[STARTED]) / TICKS_PER_S if fields else None


def rss_bytes(pid: int) -> int | None:
    """Memory that a process holds; None when it is gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_bytes().split()[1])
    except (OSError, IndexError):
        return None
    return pages * PAGE_BYTES or None


def frozen(pid: int) -> bool:
    """Whether a process was stopped and not continued."""
    fields = _stat(pid)
    return bool(fields) and fields[0] in {b"T", b"t"}


def tree(pid: int) -> list[int]:
    """A process and its descendants, parents first; none when it is gone."""
    parents = {}
    for place in Path("/proc").iterdir():
        fields = _stat(int(place.name)) if place.name.isdigit() else []
        if fields:
            parents[int(place.name)] = int(fields[PARENT])
    found = [pid] if pid in parents else []
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def _stat(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return []


def _boot_time() -> float:
    lines = Path("/proc/stat").read_text(encoding="ascii").splitlines()
    return float(next(line for line in lines if line.startswith("btime ")).split()[1])

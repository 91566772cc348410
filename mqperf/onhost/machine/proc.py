"""Processes of a host by ``/proc``, without psutil."""

import os
import socket
from contextlib import suppress
from pathlib import Path

TICKS_PER_S, PAGE_BYTES = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
PARENT, STARTED = 1, 19
"""Indexes of fields in ``/proc/PID/stat``, counted after the name."""

LISTEN = "0A"
"""TCP_LISTEN in ``/proc/net/tcp``."""

APART_S = 1.5
"""Processes with the same pid whose start times differ by more are two.

The kernel reports its boot in whole seconds, which can change when the clock is set by less.
"""

LONGEST_NAME = 15
"""Characters of a program's name that the kernel keeps."""


def create_time(pid: int) -> float | None:
    """Return when a process was started, in epoch seconds; None when it has ended."""
    fields = _stat(pid)
    if not fields or fields[0] == b"Z":
        return None
    return _boot_time() + int(fields[STARTED]) / TICKS_PER_S


def rss_bytes(pid: int) -> int | None:
    """Return the resident memory of a process; None when it has ended."""
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
    """Return a process and its descendants, parents first; empty when it has ended."""
    parents = {}
    for process in _pids():
        fields = _stat(process)
        if fields:
            parents[process] = int(fields[PARENT])
    members = [pid] if pid in parents else []
    for process in members:
        members += [child for child, parent in parents.items() if parent == process]
    return members


def signal_tree(pid: int, number: int, *, last_first: bool = False) -> None:
    """Send a signal to a process and its descendants, parents first or last."""
    members = tree(pid)
    for member in reversed(members) if last_first else members:
        with suppress(ProcessLookupError):
            os.kill(member, number)


def listener(address: str, port: int, program: str) -> int | None:
    """Return the pid of a process of ``program`` that listens on a port; None if not visible.

    None also when the address is not one of this host, and for any other program, such as one that
    only forwards the port.
    """
    if not _is_local(address):
        return None
    files = {f"socket:[{inode}]" for inode in _listening(port)}
    return next(
        (pid for pid in _pids() if _name(pid) == program[:LONGEST_NAME] and files & _files(pid)),
        None,
    )


def _is_local(address: str) -> bool:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True


def _listening(port: int) -> set[str]:
    """Return the inodes of sockets that listen on a port, of either family."""
    inodes = set()
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in Path("/proc/net", table).read_text(encoding="ascii").splitlines()[1:]:
                fields = line.split()
                if fields[3] == LISTEN and int(fields[1].rpartition(":")[2], 16) == port:
                    inodes.add(fields[9])
    return inodes


def _files(pid: int) -> set[str]:
    """Return the open files of a process, as far as permissions allow."""
    targets = set()
    with suppress(OSError):
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                targets.add(str(link.readlink()))
    return targets


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").rstrip("\n")
    except (OSError, UnicodeDecodeError):
        return ""


def _pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _stat(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return []


def _boot_time() -> float:
    lines = Path("/proc/stat").read_text(encoding="ascii").splitlines()
    return float(next(line for line in lines if line.startswith("btime ")).split()[1])

"""What tests need on a machine that is busy with other tests: time and tolerance."""

import time
from collections.abc import Callable, Iterable
from pathlib import Path

import psutil

DOUBTS_OF_A_BUSY_MACHINE = {
    *("noisy-host", "stolen-cpu", "full-host", "tester-limited", "tester-saturated"),
    *("backlog", "unequal-rates", "empty-seconds", "clock-offset"),
    *("probe-gap", "action-late", "sender-late", "rate-missed"),
}
"""Kinds of doubt that a sound run may have while other tests, or other machines, use the CPU."""


def eventually(condition: Callable[[], object], patience_s: float = 60) -> bool:
    """Whether the condition becomes true in time; polls less and less often."""
    deadline, pause_s = time.monotonic() + patience_s, 0.02
    while not (met := bool(condition())) and time.monotonic() < deadline:
        time.sleep(pause_s)
        pause_s = min(1.5 * pause_s, 0.2)
    return met


def all_due(sent: Iterable[float], due: int) -> bool:
    """Whether each load sent what was due, except for a pause of a busy machine at its end.

    Messages due in such a pause are not sent if the window of unconfirmed messages or the socket
    buffer is full.
    """
    return all(0.5 * due <= each <= due for each in sent)


def await_file(file: Path) -> None:
    """Wait until the file exists."""
    assert eventually(file.exists), file


def words_of(process: psutil.Process) -> list[str]:
    """The command line of a process; empty if it has just ended."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []

"""What a machine that may be busy with other tests needs of a test: time, and allowance."""

import time
from collections.abc import Callable, Iterable
from pathlib import Path

import psutil

DOUBTS_OF_A_BUSY_MACHINE = {
    *("noisy-host", "full-host", "tester-limited", "tester-saturated"),
    *("backlog", "unequal-rates", "empty-seconds", "clock-offset"),
    *("probe-gap", "action-late", "sender-late", "rate-missed"),
}
"""Kinds of doubt that are true of a sound run where other tests take the CPU meanwhile."""


def eventually(true: Callable[[], object], patience_s: float = 60) -> bool:
    """Whether it is so before patience ends; the longer it takes, the less often it is looked."""
    deadline, pause_s = time.monotonic() + patience_s, 0.02
    while not (so := bool(true())) and time.monotonic() < deadline:
        time.sleep(pause_s)
        pause_s = min(1.5 * pause_s, 0.2)
    return so


def all_due(sent: Iterable[float], due: int) -> bool:
    """Whether each load sent what was due, but for a pause of a busy machine at its end.

    What was due in it is sent no more where as much awaits its confirm as may, or where the socket
    takes no more.
    """
    return all(0.7 * due <= each <= due for each in sent)


def await_file(file: Path) -> None:
    """Return when there is one."""
    assert eventually(file.exists), file


def words_of(process: psutil.Process) -> list[str]:
    """Its command line; nothing of one that has just ended."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []

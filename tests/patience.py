"""What a machine that may be busy with other tests needs of a test: time, and allowance."""

import time
from collections.abc import Callable
from pathlib import Path

DOUBTS_OF_A_BUSY_MACHINE = {
    *("noisy-host", "full-host", "tester-limited", "tester-saturated"),
    *("backlog", "unequal-rates", "empty-seconds", "clock-offset"),
    *("probe-gap", "action-late", "sender-late", "rate-missed"),
}
"""Kinds of doubt that are true of a sound run where other tests take the CPU meanwhile."""


def eventually(true: Callable[[], object], patience_s: float = 60) -> bool:
    """Whether it is so before patience ends."""
    deadline = time.monotonic() + patience_s
    while not true() and time.monotonic() < deadline:
        time.sleep(0.05)
    return bool(true())


def await_file(file: Path) -> None:
    """Return when there is one."""
    assert eventually(file.exists), file

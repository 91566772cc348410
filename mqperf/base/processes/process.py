"""Processes that end with us, and leave nothing."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mqperf.onhost.machine import proc
from mqperf.onhost.processes.child_handle import ChildHandle, logged
from mqperf.onhost.processes.completed import completed

USUAL = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "XDG_CACHE_HOME", "LD_LIBRARY_PATH")
"""Variables of ours that any program may need; others may hold the password of a broker."""


@dataclass(frozen=True, slots=True)
class ForeignProcess:
    """Somebody else's process: watched, never signalled."""

    label: str
    pid: int
    create_time: float

    @property
    def alive(self) -> bool:
        """Whether this very process still runs, and not another one under its pid."""
        began = proc.create_time(self.pid)
        return began is not None and abs(began - self.create_time) < proc.APART_S

    @property
    def frozen(self) -> bool:
        """Whether it was stopped by a signal, or by a debugger, and not continued."""
        return proc.frozen(self.pid)


@dataclass(frozen=True, slots=True)
class Process:
    """A process of ours, leader of a session of its own; its output goes to ``log``."""

    label: str
    pid: int
    log: Path
    _link: ChildHandle = field(repr=False, compare=False)

    def poll(self) -> int | None:
        """Exit code, negative for a signal; None while it runs."""
        return self._link.wait()

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self.poll() is None

    @property
    def frozen(self) -> bool:
        """Whether it was stopped by a signal, or by a debugger, and not continued."""
        return proc.frozen(self.pid)

    @property
    def rss_bytes(self) -> int | None:
        """Memory that it holds; None when it is gone."""
        return proc.rss_bytes(self.pid)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal; a process that is already gone is left in peace."""
        self._link.signal(number)

    def suspend(self) -> None:
        """Stop it and all that it started, the starter first: SIGSTOP."""
        if self.alive:
            proc.signal_tree(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Let all of them go on, the starter last: SIGCONT."""
        if self.alive:
            proc.signal_tree(self.pid, signal.SIGCONT, last_first=True)

    def stop(self, grace_s: float) -> int:
        """End it: SIGTERM, after ``grace_s`` seconds SIGKILL; its exit code.

        Whatever it started ends with it.
        """
        return self._link.stop(grace_s)


def start(
    label: str,
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None,
    log: Path,
    cwd: Path | None,
) -> Process:
    """Start ``argv`` with its output appended to ``log``; it ends with us, however we end.

    When it ends, whatever it started ends, too.  ``env`` None inherits ours.  May be called from
    any thread.  Raises ``HostError`` when the program or the log's folder is missing.
    """
    link = logged(label, argv, env, log, cwd)
    return Process(label, link.pid, log, link)


def run(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout_s: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run ``argv`` to its end, and all that it started; give its exit code and output.

    Raises ``HostError`` when it is missing, or has not ended after ``timeout_s`` seconds.
    """
    return subprocess.CompletedProcess(argv, *completed(argv, env, cwd, timeout_s))


def usual_variables() -> dict[str, str]:
    """Those of our variables that any program may have."""
    return {name: os.environ[name] for name in USUAL if name in os.environ}

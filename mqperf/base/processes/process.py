"""Child processes that end with this process, together with all that they started."""

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
"""Environment variables that any program may need; others may hold the password of a broker."""


@dataclass(frozen=True, slots=True)
class ForeignProcess:
    """A process that mqperf did not start: watched, never signalled."""

    label: str
    pid: int
    create_time: float

    @property
    def alive(self) -> bool:
        """Whether this process still runs, and its pid was not reused."""
        began = proc.create_time(self.pid)
        return began is not None and abs(began - self.create_time) < proc.APART_S

    @property
    def frozen(self) -> bool:
        """Whether it was stopped by a signal, or by a debugger, and not continued."""
        return proc.frozen(self.pid)


@dataclass(frozen=True, slots=True)
class Process:
    """A child process, leader of a session of its own; its output goes to ``log``."""

    label: str
    pid: int
    log: Path
    _handle: ChildHandle = field(repr=False, compare=False)

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""
        return self._handle.wait()

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
        """Resident memory; None when it has ended."""
        return proc.rss_bytes(self.pid)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal; nothing is done when the process has ended."""
        self._handle.signal(number)

    def suspend(self) -> None:
        """Send SIGSTOP to it and all its descendants, parents first."""
        if self.alive:
            proc.signal_tree(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Send SIGCONT to all of them, parents last."""
        if self.alive:
            proc.signal_tree(self.pid, signal.SIGCONT, last_first=True)

    def stop(self, grace_s: float) -> int:
        """Send SIGTERM, and SIGKILL after ``grace_s`` seconds; return the exit code.

        Its descendants end with it.
        """
        return self._handle.stop(grace_s)


def start(
    label: str,
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None,
    log: Path,
    cwd: Path | None,
) -> Process:
    """Start ``argv``, its output appended to ``log``; it ends with this process, however that ends.

    Its descendants end with it.  ``env`` None inherits this environment.  May be called from any
    thread.  Raises ``HostError`` when the program or the log's folder is missing.
    """
    handle = logged(label, argv, env, log, cwd)
    return Process(label, handle.pid, log, handle)


def run(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout_s: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run ``argv`` to its end, and end its descendants, too; return its exit code and output.

    Raises ``HostError`` when it is missing, or has not ended after ``timeout_s`` seconds.
    """
    return subprocess.CompletedProcess(argv, *completed(argv, env, cwd, timeout_s))


def usual_variables() -> dict[str, str]:
    """Return the environment variables in ``USUAL``, which any program may have."""
    return {name: os.environ[name] for name in USUAL if name in os.environ}

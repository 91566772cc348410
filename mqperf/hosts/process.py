"""Interfaces of processes on a host: processes to watch, and those started by mqperf."""

import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol, runtime_checkable

from mqperf.base.closing import ChainedExitStack
from mqperf.base.errors import HostError


@runtime_checkable
class Watched(Protocol):
    """A process on a host, started by mqperf or not."""

    @property
    def label(self) -> str:
        """Its name in records and messages."""
        ...

    @property
    def pid(self) -> int:
        """Its process id on the host."""
        ...

    @property
    def alive(self) -> bool:
        """Whether it is still running."""
        ...

    @property
    def frozen(self) -> bool:
        """Whether it is stopped, by a signal or a debugger."""
        ...


@runtime_checkable
class Process(Watched, Protocol):
    """A process that mqperf started on a host; it and its descendants end with mqperf.

    No method raises an error because the process has ended already.
    """

    @property
    def log(self) -> Path:
        """The file on the host with its output."""
        ...

    @property
    def rss_bytes(self) -> int | None:
        """Resident memory; None when it has ended."""
        ...

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""
        ...

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        ...

    def suspend(self) -> None:
        """Stop it and its descendants: SIGSTOP."""
        ...

    def resume(self) -> None:
        """Continue it and its descendants: SIGCONT."""
        ...

    def stop(self, grace_s: float) -> int:
        """Send SIGTERM, after ``grace_s`` seconds SIGKILL; return the exit code."""
        ...


@runtime_checkable
class Restartable(Protocol):
    """A server that can be ended on purpose and restarted: one process after another."""

    @property
    def process(self) -> Process:
        """The current process, or the last one."""
        ...

    def end(self, number: signal.Signals) -> None:
        """End it by a signal; from now on its absence is not reported as a fault."""
        ...

    def start_again(self) -> None:
        """Restart it with the same command, after its last process has ended."""
        ...


def stop_all(processes: Sequence[Process], grace_s: float) -> None:
    """End several processes in parallel: all get SIGTERM before the first is waited for.

    Raises ``HostError`` for a host that refuses or is lost, after the other processes have ended.
    """
    for process in processes:
        with suppress(HostError):
            process.signal(signal.SIGTERM)
            process.signal(signal.SIGCONT)
    deadline = time.monotonic() + grace_s
    with ChainedExitStack() as stops:  # runs all of them, also when one raises an error
        for process in reversed(processes):
            stops.callback(_stop_until, process, deadline)


def _stop_until(process: Process, deadline: float) -> None:
    process.stop(max(0.0, deadline - time.monotonic()))

"""What a process on a host is to those who watch it, and to those who started it."""

import signal
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Protocol, runtime_checkable

from mqperf.base.errors import HostError


@runtime_checkable
class Watched(Protocol):
    """A process on a host, whoever started it."""

    @property
    def label(self) -> str:
        """How records and messages call it."""
        ...

    @property
    def pid(self) -> int:
        """Its process id on its host."""
        ...

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        ...

    @property
    def frozen(self) -> bool:
        """Whether it was stopped by a signal, or by a debugger, and not continued."""
        ...


@runtime_checkable
class Process(Watched, Protocol):
    """A process that a host started for us; it ends with us, and all that it started with it.

    A process that has ended already is left in peace by every method.
    """

    @property
    def log(self) -> Path:
        """Where on the host its output goes."""
        ...

    @property
    def rss_bytes(self) -> int | None:
        """Memory that it holds; None when it has ended."""
        ...

    def poll(self) -> int | None:
        """Exit code, negative for a signal; None while it runs."""
        ...

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        ...

    def suspend(self) -> None:
        """Stop it and all that it started: SIGSTOP."""
        ...

    def resume(self) -> None:
        """Let all of them go on: SIGCONT."""
        ...

    def stop(self, grace_s: float) -> int:
        """End it: SIGTERM, after ``grace_s`` seconds SIGKILL; its exit code."""
        ...


@runtime_checkable
class Restartable(Protocol):
    """What is to run on a host: one process, and after a planned end the next."""

    @property
    def process(self) -> Process:
        """The one that runs, or ran last."""
        ...

    def end(self, number: signal.Signals) -> None:
        """Send the signal that ends it; that it does not run is no fault from now on."""
        ...

    def start_again(self) -> None:
        """Start it as it was, once what still runs of it has ended."""
        ...


def stop_all(processes: Sequence[Process], grace_s: float) -> None:
    """End several processes at once: all of them get their SIGTERM before any is waited for.

    Raises ``HostError`` for those on a host that refuses or is lost, when the others have ended.
    """
    for process in processes:
        with suppress(HostError):
            process.signal(signal.SIGTERM)
            process.signal(signal.SIGCONT)
    deadline = time.monotonic() + grace_s
    with ExitStack() as each:  # whatever becomes of those before it
        for process in reversed(processes):
            each.callback(_stop_until, process, deadline)


def _stop_until(process: Process, deadline: float) -> None:
    process.stop(max(0.0, deadline - time.monotonic()))

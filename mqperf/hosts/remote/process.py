"""Processes on another host: those that mqperf started, and foreign ones."""

import signal
from dataclasses import dataclass, field
from pathlib import Path

from mqperf.hosts.remote.channel import ANSWER_LIMIT_S, Channel
from mqperf.onhost.machine.proc import APART_S


@dataclass(frozen=True, slots=True)
class RemoteProcess:
    """A process that leads its own session; its output goes to ``log``.

    ``pid`` and ``log`` are those on the host.  Every method raises ``HostLost`` for a lost host.
    """

    label: str
    pid: int
    log: Path
    _channel: Channel = field(repr=False, compare=False)

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while it runs."""
        code: int | None = self._channel.call("poll", pid=self.pid)
        return code

    @property
    def alive(self) -> bool:
        """Whether it is still running."""
        return self.poll() is None

    @property
    def frozen(self) -> bool:
        """Whether it was stopped by a signal, or by a debugger, and not continued."""
        return bool(self._channel.call("look", pid=self.pid)["frozen"])

    @property
    def rss_bytes(self) -> int | None:
        """Resident memory; None when it has ended."""
        rss_bytes: int | None = self._channel.call("look", pid=self.pid)["rss_bytes"]
        return rss_bytes

    def signal(self, number: signal.Signals) -> None:
        """Send a signal; no error if the process has ended already."""
        self._channel.call("signal", pid=self.pid, number=number)

    def suspend(self) -> None:
        """Stop it and then its descendants: SIGSTOP."""
        self._channel.call("signal_tree", pid=self.pid, number=signal.SIGSTOP, last_first=False)

    def resume(self) -> None:
        """Continue its descendants and then itself: SIGCONT."""
        self._channel.call("signal_tree", pid=self.pid, number=signal.SIGCONT, last_first=True)

    def stop(self, grace_s: float) -> int:
        """Send SIGTERM, after ``grace_s`` seconds SIGKILL; return the exit code.

        Its descendants end with it.
        """
        limit = grace_s + ANSWER_LIMIT_S
        code: int = self._channel.call("stop", pid=self.pid, grace_s=grace_s, timeout_s=limit)
        return code


@dataclass(frozen=True, slots=True)
class RemoteForeignProcess:
    """A process on another host that mqperf did not start: watched, never signalled."""

    label: str
    pid: int
    create_time: float
    _channel: Channel = field(repr=False, compare=False)

    @property
    def alive(self) -> bool:
        """Whether this process is still running, and its pid is not reused by another one."""
        created: float | None = self._channel.call("look", pid=self.pid)["create_time"]
        return created is not None and abs(created - self.create_time) < APART_S

    @property
    def frozen(self) -> bool:
        """Whether it was stopped by a signal, or by a debugger, and not continued."""
        return bool(self._channel.call("look", pid=self.pid)["frozen"])

"""Processes on another host: ours, and somebody else's."""

import signal
from dataclasses import dataclass, field
from pathlib import Path

from mqperf.hosts.remote.channel import ANSWER_LIMIT_S, Channel
from mqperf.onhost.machine.proc import APART_S


@dataclass(frozen=True, slots=True)
class RemoteProcess:
    """Leader of a session of its own; its output goes to ``log``.

    Pid and log are its host's.  Every method raises ``HostLost`` when the host is.
    """

    label: str
    pid: int
    log: Path
    _channel: Channel = field(repr=False, compare=False)

    def poll(self) -> int | None:
        """Exit code, negative for a signal; None while it runs."""
        code: int | None = self._channel.call("poll", pid=self.pid)
        return code

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self.poll() is None

    @property
    def frozen(self) -> bool:
        """Whether it was stopped by a signal, or by a debugger, and not continued."""
        return bool(self._channel.call("look", pid=self.pid)["frozen"])

    @property
    def rss_bytes(self) -> int | None:
        """Memory that it holds; None when it is gone."""
        held: int | None = self._channel.call("look", pid=self.pid)["rss_bytes"]
        return held

    def signal(self, number: signal.Signals) -> None:
        """Send a signal; a process that is already gone is left in peace."""
        self._channel.call("signal", pid=self.pid, number=number)

    def suspend(self) -> None:
        """Stop it and all that it started, the starter first: SIGSTOP."""
        self._channel.call("signal_tree", pid=self.pid, number=signal.SIGSTOP, last_first=False)

    def resume(self) -> None:
        """Let all of them go on, the starter last: SIGCONT."""
        self._channel.call("signal_tree", pid=self.pid, number=signal.SIGCONT, last_first=True)

    def stop(self, grace_s: float) -> int:
        """End it: SIGTERM, after ``grace_s`` seconds SIGKILL; its exit code.

        Whatever it started ends with it.
        """
        limit = grace_s + ANSWER_LIMIT_S
        code: int = self._channel.call("stop", pid=self.pid, grace_s=grace_s, timeout_s=limit)
        return code


@dataclass(frozen=True, slots=True)
class RemoteForeignProcess:
    """Somebody else's process on another host: watched, never signalled."""

    label: str
    pid: int
    create_time: float
    _channel: Channel = field(repr=False, compare=False)

    @property
    def alive(self) -> bool:
        """Whether this very process still runs, and not another one under its pid."""
        began: float | None = self._channel.call("look", pid=self.pid)["create_time"]
        return began is not None and abs(began - self.create_time) < APART_S

    @property
    def frozen(self) -> bool:
        """Whether it was stopped by a signal, or by a debugger, and not continued."""
        return bool(self._channel.call("look", pid=self.pid)["frozen"])

"""The processes of one run: load generators and probes, by label."""

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from mqperf.base.errors import HostError, LoadError
from mqperf.hosts import Host, Process, stop_all
from mqperf.lab.runner.control import POLL_S

STOP_GRACE_S = 2


class Processes:
    """What was started for a run, who of it died, and what it said last.

    ``watch`` is called while waiting and raises when the run is lost for another reason.
    """

    def __init__(self, watch: Callable[[], None]) -> None:
        """Begin with none."""
        self._watch = watch
        self._hosts: dict[str, Host] = {}
        self._running: dict[str, Process] = {}

    def __contains__(self, label: str) -> bool:
        """Whether it was started."""
        return label in self._running

    @property
    def labels(self) -> list[str]:
        """Of all that were started, in that order."""
        return list(self._running)

    def start(
        self,
        host: Host,
        label: str,
        argv: tuple[str, ...],
        log: Path,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """Start one more; its output goes to ``log``."""
        self._running[label] = host.start(label, argv, env=env, log=log)
        self._hosts[label] = host

    def pid(self, label: str) -> int:
        """The process id of one of them."""
        return self._running[label].pid

    def host(self, label: str) -> Host:
        """Where one of them runs."""
        return self._hosts[label]

    def exit_code(self, label: str) -> int | None:
        """None while it runs."""
        return self._running[label].poll()

    def check_running(self) -> None:
        """Raise ``LoadError`` when one has ended that should run."""
        self._watch()
        for label, process in self._running.items():
            if (code := process.poll()) is not None:
                raise LoadError(f"{label} died with exit code {code}{self.last_words(label)}")

    def await_exit(
        self, labels: Iterable[str], limit: float, busy: Callable[[], object] = lambda: True
    ) -> None:
        """Wait until each has ended well, to the instant ``limit``; raises ``LoadError``.

        One that still runs is left alone when it is not ``busy``.
        """
        for label in labels:
            process = self._running[label]
            while (code := process.poll()) is None and busy():
                self._watch()
                if time.time() > limit:
                    raise LoadError(f"{label} did not end in time{self.last_words(label)}")
                time.sleep(POLL_S)
            if code:
                raise LoadError(f"{label} ended with exit code {code}{self.last_words(label)}")

    def stop(self) -> None:
        """End all that still run, on every host that answers; raises ``HostLost`` afterwards."""
        stop_all(list(self._running.values()), STOP_GRACE_S)

    def last_words(self, label: str) -> str:
        """The last line that a process wrote, ready to end a sentence."""
        log = self._running[label].log
        try:
            text = self._hosts[label].read(log).decode("utf-8", errors="replace")
        except HostError:
            return ""
        lines = text.split("\n")
        words = [line.strip() for line in lines if line.strip()]
        return f"; its last line: {words[-1][:300]}" if words else f"; its log is empty: {log}"

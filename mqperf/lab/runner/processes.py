"""The processes of one run: load generators and probes, by label."""

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from mqperf.base.errors import HostError, LoadError
from mqperf.hosts import Host, Process, stop_all
from mqperf.lab.runner.control import POLL_S

STOP_GRACE_S = 2


class Processes:
    """The processes that were started for a run, their exit codes and their last lines of output.

    ``watch`` is called while waiting and raises when the run has failed for another reason.
    """

    def __init__(self, watch: Callable[[], None]) -> None:
        """Begin without processes."""
        self._watch = watch
        self._hosts: dict[str, Host] = {}
        self._processes: dict[str, Process] = {}

    def __contains__(self, label: str) -> bool:
        """Return whether a process of this label was started."""
        return label in self._processes

    @property
    def labels(self) -> list[str]:
        """Labels of all processes, in the order of their starts."""
        return list(self._processes)

    def start(
        self,
        host: Host,
        label: str,
        argv: tuple[str, ...],
        log: Path,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """Start a process; its output goes to ``log``."""
        self._processes[label] = host.start(label, argv, env=env, log=log)
        self._hosts[label] = host

    def pid(self, label: str) -> int:
        """Return the id of a process."""
        return self._processes[label].pid

    def host(self, label: str) -> Host:
        """Return the host of a process."""
        return self._hosts[label]

    def exit_code(self, label: str) -> int | None:
        """Return the exit code of a process; None while it runs."""
        return self._processes[label].poll()

    def check_running(self) -> None:
        """Raise ``LoadError`` when a process has ended, as all should be running."""
        self._watch()
        for label, process in self._processes.items():
            if (code := process.poll()) is not None:
                raise LoadError(f"{label} died with exit code {code}{self.last_words(label)}")

    def await_exit(
        self, labels: Iterable[str], limit: float, busy: Callable[[], object] = lambda: True
    ) -> None:
        """Wait for the exit of each until the instant ``limit``; raises ``LoadError`` for failures.

        A running process is not waited for once ``busy`` returns false.
        """
        for label in labels:
            process = self._processes[label]
            while (code := process.poll()) is None and busy():
                self._watch()
                if time.time() > limit:
                    raise LoadError(f"{label} did not end in time{self.last_words(label)}")
                time.sleep(POLL_S)
            if code:
                raise LoadError(f"{label} ended with exit code {code}{self.last_words(label)}")

    def stop(self) -> None:
        """End all running processes on every host that answers; raises ``HostLost`` afterwards."""
        stop_all(list(self._processes.values()), STOP_GRACE_S)

    def last_words(self, label: str) -> str:
        """Return the last line of output of a process, as the end of an error message."""
        log = self._processes[label].log
        try:
            text = self._hosts[label].read(log).decode("utf-8", errors="replace")
        except HostError:
            return ""
        lines = [line.strip() for line in text.split("\n") if line.strip()]
        return f"; its last line: {lines[-1][:300]}" if lines else f"; its log is empty: {log}"

"""Processes that die with us."""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from mqperf.errors import HostError


@dataclass(frozen=True, slots=True)
class ForeignProcess:
    """Somebody else's process: watched, never signalled."""

    label: str
    pid: int
    create_time: float

    @property
    def alive(self) -> bool:
        """Whether this very process still runs, and not another one under its pid."""
        try:
            process = psutil.Process(self.pid)
            return (
                process.status() != psutil.STATUS_ZOMBIE
                and abs(process.create_time() - self.create_time) < 1
            )
        except psutil.NoSuchProcess:
            return False


@dataclass(frozen=True, slots=True)
class Process:
    """A process of ours, leader of a session of its own; its output goes to ``log``."""

    label: str
    pid: int
    create_time: float
    log: Path
    _child: subprocess.Popen[bytes] = field(repr=False, compare=False)

    def poll(self) -> int | None:
        """Exit code, negative for a signal; None while it runs."""
        return self._child.poll()

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self.poll() is None

    def signal(self, number: signal.Signals) -> None:
        """Send a signal; a process that is already gone is left in peace."""
        self._child.send_signal(number)

    def stop(self, grace_s: float) -> int:
        """End it: SIGTERM, after ``grace_s`` seconds SIGKILL to its whole group; its exit code.

        A frozen process is woken, or it would sleep through its SIGTERM.
        """
        self.signal(signal.SIGTERM)
        self.signal(signal.SIGCONT)
        with suppress(subprocess.TimeoutExpired):
            self._child.wait(grace_s)
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        return self._child.wait()


def stop_all(processes: Sequence[Process], grace_s: float) -> None:
    """End several processes at once: all of them get their SIGTERM before any is waited for."""
    for process in processes:
        process.signal(signal.SIGTERM)
    for process in processes:
        process.stop(grace_s)


def start(
    label: str,
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None,
    log: Path,
    cwd: Path | None,
) -> Process:
    """Start ``argv`` with its output appended to ``log``; the kernel kills it when we die.

    Call it from a thread that lives at least as long as the process should: the kernel takes the
    end of the thread that forked for the end of the parent.  ``env`` None inherits ours.

    Raises ``HostError`` when the program, ``setpriv`` or the log's folder is missing.
    """
    command = _dying_with_us(argv, env)
    try:
        with log.open("ab") as output:
            child = subprocess.Popen(
                command,
                env=env,
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
    except OSError as error:
        raise HostError(
            f"cannot start {label} ({argv[0]}): {error.filename or log}: {error.strerror}"
        ) from None
    # Not yet reaped, so its entry is there even if it has ended already.
    return Process(label, child.pid, psutil.Process(child.pid).create_time(), log, child)


def run(
    argv: Sequence[str], *, env: Mapping[str, str] | None, stdin: str, timeout_s: float
) -> subprocess.CompletedProcess[str]:
    """Run ``argv`` to its end and give its exit code and output.

    Raises ``HostError`` when it is missing, or has not ended after ``timeout_s`` seconds.
    """
    try:
        return subprocess.run(
            _dying_with_us(argv, env),
            env=env,
            check=False,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        raise HostError(f"{argv[0]} {argv[1]} did not end within {timeout_s:g} s") from None


def _dying_with_us(argv: Sequence[str], env: Mapping[str, str] | None) -> list[str]:
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise HostError(
            "setpriv is missing, without which processes could outlive mqperf:"
            " sudo apt-get install util-linux"
        )
    if shutil.which(argv[0], path=(os.environ if env is None else env).get("PATH")) is None:
        raise HostError(f"{argv[0]} is missing or not executable: install it or correct its path")
    return [setpriv, "--pdeathsig", "KILL", "--", *argv]

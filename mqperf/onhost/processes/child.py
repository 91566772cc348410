"""Helper processes that run without a guardian: the guardian itself, and reapers."""

import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

POLL_S = 0.002


def begun(script: str, arguments: Sequence[str], line: int | None = None) -> int:
    """Start a Python script with ``line`` as its standard input; return its pid.

    It imports only the standard library, whatever the environment is.  It has its own session, so
    that Ctrl-C and a closed terminal do not reach it.  Raises ``OSError`` when that is refused.
    """
    argv = [sys.executable, "-I", "-S", script, *arguments]
    null = os.open(os.devnull, os.O_RDWR)
    standard = ((null if line is None else line, 0), (null, 1), (null, 2))
    actions = [(os.POSIX_SPAWN_DUP2, source, target) for source, target in standard]
    try:
        return os.posix_spawn(argv[0], argv, {}, file_actions=actions, setsid=True)
    finally:
        os.close(null)


def await_end(pid: int, limit_s: float) -> None:
    """Wait until a child has ended, and kill it after ``limit_s`` seconds.

    Unlike the waits of ``subprocess`` it holds no lock meanwhile, so that an interruption cannot
    leave another thread waiting for ever.
    """
    deadline = time.monotonic() + limit_s
    with suppress(ChildProcessError):
        while not os.waitpid(pid, os.WNOHANG)[0]:
            if time.monotonic() >= deadline:
                os.kill(pid, signal.SIGKILL)
            time.sleep(POLL_S)

"""A helper process of ours that no guardian guards: the guardian itself, and reapers."""

import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

POLL_S = 0.002


def begun(script: str, arguments: Sequence[str], line: int | None = None) -> int:
    """Start a Python script of ours, with ``line`` as its standard input; gives its pid.

    It imports nothing but the standard library, whatever the environment says.  In a session of its
    own: Ctrl-C and a closed terminal are meant for us.  Raises ``OSError`` when that is refused.
    """
    argv = [sys.executable, "-I", "-S", script, *arguments]
    null = os.open(os.devnull, os.O_RDWR)
    places = ((null if line is None else line, 0), (null, 1), (null, 2))
    actions = [(os.POSIX_SPAWN_DUP2, file, place) for file, place in places]
    try:
        return os.posix_spawn(argv[0], argv, {}, file_actions=actions, setsid=True)
    finally:
        os.close(null)


def await_end(pid: int, limit_s: float) -> None:
    """Wait until it has ended, and kill it after so many seconds.

    Unlike the waits of ``subprocess`` it holds nothing while it waits: an interruption at any
    instant leaves nobody waiting for ever.
    """
    limit = time.monotonic() + limit_s
    with suppress(ChildProcessError):
        while not os.waitpid(pid, os.WNOHANG)[0]:
            if time.monotonic() >= limit:
                os.kill(pid, signal.SIGKILL)
            time.sleep(POLL_S)

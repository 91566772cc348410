"""Removes what a process has left in /tmp for profilers as soon as it has ended; run as a script.

Guardians of mqperf spare scripts of this name, so that it outlives whoever is killed.
"""

import os
import select
import sys
from contextlib import suppress
from pathlib import Path

LEFT = ("/tmp/perf-{}.map", "/tmp/.java_pid{}")  # noqa: S108 (where Erlang and Java write)
"""The names of its machine code, and the socket by which a Java is asked for them."""


def reap(pid: int) -> None:
    """Wait until the process has ended, and remove what it left."""
    with suppress(ProcessLookupError):  # it has ended already
        poll = select.poll()
        poll.register(os.pidfd_open(pid), select.POLLIN)
        poll.poll()
    for name in LEFT:
        with suppress(OSError):
            Path(name.format(pid)).unlink()


if __name__ == "__main__":
    os.chdir("/")
    reap(int(sys.argv[1]))

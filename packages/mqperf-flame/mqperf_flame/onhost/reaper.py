"""Removes the files of a process for profilers from /tmp when it ends; run as a script.

Guardians of mqperf do not kill scripts of this name, so that it outlives a killed process.
"""

import os
import select
import sys
from contextlib import suppress
from pathlib import Path

LEFT = ("/tmp/perf-{}.map", "/tmp/.java_pid{}")  # noqa: S108 (where Erlang and Java write)
"""The symbol map of a process, and the socket by which a Java accepts the command to write it."""


def reap(pid: int) -> None:
    """Wait until the process has ended, and remove its files."""
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

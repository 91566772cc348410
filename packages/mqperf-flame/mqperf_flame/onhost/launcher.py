"""Executes a command whose symbol map for perf is removed when it ends; run as a script.

The command replaces this process: parent, process id and variables stay.
"""

import os
import sys
from pathlib import Path

REAPER = Path(__file__).with_name("reaper.py")


def main(*argv: str) -> None:
    """Start the reaper that removes the map, detached by a double fork, and execute the command."""
    pid = os.getpid()
    if (intermediate := os.fork()) == 0:
        reaper = [sys.executable, "-I", "-S", str(REAPER), str(pid)]
        null = os.open(os.devnull, os.O_RDWR)
        files = [(os.POSIX_SPAWN_DUP2, null, file) for file in range(3)]
        os.posix_spawn(reaper[0], reaper, {}, file_actions=files, setsid=True)
        os._exit(0)
    os.waitpid(intermediate, 0)
    os.execvp(argv[0], argv)  # noqa: S606 (no shell is what we want)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except OSError as error:
        sys.exit(f"{error.filename or sys.argv[1]}: {error.strerror}")

"""Removes a folder as soon as its owner has released its lock; run as a script, by ``scratch``."""

import fcntl
import os
import shutil
import sys
import time
from pathlib import Path

PATIENCE_S = 20.0


def reap(folder: Path) -> None:
    """Wait for the lock on ``folder``, then remove the folder repeatedly until it stays away.

    Its owner's processes are being killed at the same moment and may still write into it.
    """
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return
    fcntl.flock(lock, fcntl.LOCK_EX)
    deadline = time.monotonic() + PATIENCE_S
    while folder.exists() and time.monotonic() < deadline:
        shutil.rmtree(folder, ignore_errors=True)
        if folder.exists():
            time.sleep(0.1)


if __name__ == "__main__":
    os.chdir("/")
    reap(Path(sys.argv[1]))

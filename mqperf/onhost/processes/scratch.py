"""Scratch folders that vanish with their owner.

Whoever holds the lock (``flock``) on a scratch folder owns it, and the kernel lets go of a lock
when its holder dies, however it dies.  A reaper process of ours waits in line for the lock and
removes the folder when it gets it: at the regular end as after a SIGKILL.  What a power cut leaves
behind has no owner either, and is swept away by the next mqperf of the same user.
"""

import fcntl
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from mqperf.onhost.errors import HostError, refusals
from mqperf.onhost.processes import child, reaper

REMOVAL_LIMIT_S = 30
RANDOM = r"-[a-z0-9_]{8}"
"""What ``tempfile`` adds to a prefix."""


@contextmanager
def scratch(prefix: str) -> Iterator[Path]:
    """Make a folder that only we may enter, removed at the end, also when we are SIGKILLed.

    Raises ``HostError`` when it cannot be made, or cannot be removed.
    """
    base = user_folder()
    sweep(base)
    with owned(base, prefix) as folder:
        yield folder


@contextmanager
def scratch_beside(path: Path) -> Iterator[Path]:
    """The same, hidden beside ``path``, so that what becomes whole in it can take its place.

    Raises ``HostError`` as ``scratch`` does.
    """
    prefix = f".{path.name}.mqperf"
    with owned(path.parent, prefix) as folder:
        sweep(path.parent, re.compile(re.escape(prefix) + RANDOM))
        yield folder


def scratch_errors(path: Path) -> AbstractContextManager[None]:
    """Turn the system's refusal to write a scratch file (disk full) into one sentence about it."""
    return refusals(HostError, path, "", "make room there, or set TMPDIR to another folder")


@contextmanager
def owned(base: Path, prefix: str) -> Iterator[Path]:
    """Make such a folder in ``base``, whose owner sweeps it; raises ``HostError``."""
    try:
        folder, lock = _owned_folder(base, prefix)
        waiting = start_reaper(folder)
    except OSError as error:
        raise HostError(
            f"{error.filename or base}: cannot make a scratch folder: {error.strerror}"
        ) from None
    try:
        yield folder
    finally:
        os.close(lock)
        child.await_end(waiting, REMOVAL_LIMIT_S)
    # Only if somebody killed the reaper is there anything left to do.
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        raise HostError(f"{folder}: cannot remove this scratch folder; remove it by hand")


def user_folder() -> Path:
    """Give the folder of all our scratch folders: one per user, closed to others.

    Raises ``HostError`` when somebody else made it, or there is no room for temporary files.
    """
    try:
        folder = Path(tempfile.gettempdir()) / f"mqperf-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError as error:
        raise HostError(
            f"{error.filename or 'temporary folder'}: {error.strerror};"
            " set TMPDIR to a folder that you may write to"
        ) from None
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise HostError(
            f"{folder} is not a folder that only you may enter;"
            " remove it, or set TMPDIR to a folder of your own"
        )
    return folder


def sweep(base: Path, names: re.Pattern[str] | None = None) -> None:
    """Remove the scratch folders whose owner is dead; what cannot be removed stays.

    In a folder that is not ours alone, only those of these ``names`` are ours.
    """
    for folder in base.iterdir():
        if names is not None and not names.fullmatch(folder.name):
            continue
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except BlockingIOError:
            pass
        finally:
            os.close(lock)


def _owned_folder(base: Path, prefix: str) -> tuple[Path, int]:
    """Make a folder, and open the descriptor that holds its lock."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"{prefix}-", dir=base))
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            continue  # Swept away by another mqperf before it was ours.
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(lock).st_nlink:
                return folder, lock
        except BlockingIOError:
            pass
        os.close(lock)


def start_reaper(folder: Path) -> int:
    """Start who removes a folder as soon as its lock is let go; gives its pid."""
    return child.begun(reaper.__file__, [str(folder.absolute())])

"""Scratch folders that are removed when their owner ends.

The holder of the lock (``flock``) on a scratch folder owns it, and the kernel releases the lock
when its holder dies, in whatever way.  A reaper process waits for the lock and removes the folder
when it gets it, at the regular end as after a SIGKILL.  Folders left by a power failure have no
owner either, and the next mqperf of the same user removes them.
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
"""Pattern of the suffix that ``tempfile`` adds to a prefix."""


@contextmanager
def scratch(prefix: str) -> Iterator[Path]:
    """Make a folder that only this user may enter; it is removed at the end, even after a SIGKILL.

    Raises ``HostError`` when it cannot be made, or cannot be removed.
    """
    base = user_folder()
    sweep(base)
    with owned(base, prefix) as folder:
        yield folder


@contextmanager
def scratch_beside(path: Path) -> Iterator[Path]:
    """Make a hidden scratch folder beside ``path``, whose content can then be renamed to ``path``.

    Raises ``HostError`` as ``scratch`` does.
    """
    prefix = f".{path.name}.mqperf"
    with owned(path.parent, prefix) as folder:
        sweep(path.parent, re.compile(re.escape(prefix) + RANDOM))
        yield folder


def scratch_errors(path: Path) -> AbstractContextManager[None]:
    """Turn an ``OSError`` for a scratch file (disk full) into one sentence about it."""
    return refusals(HostError, path, "", "make room there, or set TMPDIR to another folder")


@contextmanager
def owned(base: Path, prefix: str) -> Iterator[Path]:
    """Make a scratch folder in ``base``, which the caller must sweep; raises ``HostError``."""
    try:
        folder, lock = _owned_folder(base, prefix)
        reaper_pid = start_reaper(folder)
    except OSError as error:
        raise HostError(
            f"{error.filename or base}: cannot make a scratch folder: {error.strerror}"
        ) from None
    try:
        yield folder
    finally:
        os.close(lock)
        child.await_end(reaper_pid, REMOVAL_LIMIT_S)
    # The folder still exists only if the reaper was killed.
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        raise HostError(f"{folder}: cannot remove this scratch folder; remove it by hand")


def user_folder() -> Path:
    """Return the parent of all scratch folders: one per user, closed to others.

    Raises ``HostError`` when another user made it, or there is no room for temporary files.
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
    """Remove the scratch folders whose owner is dead; those that cannot be removed stay.

    In a ``base`` that is shared with others, ``names`` matches those of scratch folders.
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
    """Make a folder; return it and the descriptor that holds its lock."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"{prefix}-", dir=base))
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            continue  # Another mqperf has removed it before it was locked.
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(lock).st_nlink:
                return folder, lock
        except BlockingIOError:
            pass
        os.close(lock)


def start_reaper(folder: Path) -> int:
    """Start the process that removes a folder once its lock is released; return its pid."""
    return child.begun(reaper.__file__, [str(folder.absolute())])

"""Private files and folders of this machine.

With the standard library alone, since the agents of other hosts use it, too.  An ``OSError``
becomes a ``HostError`` with one sentence about the file.
"""

import errno
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mqperf.onhost.errors import HostError
from mqperf.onhost.processes.scratch import scratch_errors

PAGE_BYTES = 4096
"""Bytes of a test write: a file system with room for a page has room for a line of a log."""

FULL = {errno.ENOSPC, errno.EDQUOT}
NO_ROOM = "make room there, or set TMPDIR to another folder"


@contextmanager
def host_errors(path: Path, action: str) -> Iterator[None]:
    """Turn an ``OSError`` into a ``HostError`` with one sentence about the file."""
    try:
        yield
    except OSError as error:
        advice = f"; {NO_ROOM}" if error.errno in FULL else ""
        raise HostError(
            f"{error.filename or path}: cannot {action} it: {error.strerror}{advice}"
        ) from None


def make(folder: Path) -> None:
    """Make a folder for its owner only, and its parents; it must not exist."""
    with host_errors(folder, "make"):
        folder.mkdir(mode=0o700, parents=True)


def write(path: Path, content: bytes, mode: int) -> None:
    """Write a file atomically, and make its parent folders.

    Until it is complete only its owner can read it.
    """
    write_part(path, content, 0)
    finish(path, mode)


def write_part(path: Path, content: bytes, start: int) -> None:
    """Write into the draft of a file at a position, its new end behind that; make its parents."""
    draft = _draft(path)
    with host_errors(path, "write"):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            draft.touch(mode=0o600)
            with draft.open("r+b") as file:
                file.seek(start)
                file.write(content)
                file.truncate()
        except OSError:
            draft.unlink(missing_ok=True)
            raise


def finish(path: Path, mode: int) -> None:
    """Move the draft of a file to its final name."""
    with host_errors(path, "write"):
        _draft(path).chmod(mode)
        _draft(path).replace(path)


def _draft(path: Path) -> Path:
    return path.with_name(f".{path.name}.draft")


def read(path: Path, start: int = 0, longest: int = -1) -> bytes:
    """Read a file from a position on, at most ``longest`` bytes if that is given."""
    with host_errors(path, "read"), path.open("rb") as file:
        file.seek(start)
        return file.read(longest)


def size(path: Path) -> int:
    """Return the size of a file in bytes."""
    with host_errors(path, "read"):
        return path.stat().st_size


def names(folder: Path) -> set[str]:
    """Return the names of all entries of a folder."""
    with host_errors(folder, "read"):
        return {entry.name for entry in folder.iterdir()}


def check_room(folder: Path) -> None:
    """Raise ``HostError`` when nothing more can be written into the folder."""
    probe = folder / ".room"
    try:
        with scratch_errors(folder):
            probe.write_bytes(bytes(PAGE_BYTES))
    finally:
        with suppress(OSError):
            probe.unlink(missing_ok=True)

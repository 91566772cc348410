"""The user's cache: folders that are fetched or built once, and verified before each use.

A cached folder is valid only with its seal: a digest of the names, sizes and times of its files,
written beside it as the last step.  An incomplete, damaged or changed folder is built again.
"""

import hashlib
import os
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from filelock import FileLock
from platformdirs import user_cache_path

from mqperf.base.errors import HostError
from mqperf.onhost import errors


def place() -> Path:
    """Return the cache folder; raises ``HostError`` when this user has no home folder."""
    with suppress(RuntimeError):  # platformdirs without a home; earlier releases return ~/.cache
        folder = user_cache_path("mqperf")
        if folder.is_absolute():
            return folder
    raise HostError(
        "no place for the cache of load generators and brokers, since this user has no home"
        " folder: set HOME or XDG_CACHE_HOME to an absolute path"
    )


def make(home: Path, build: Callable[[], object], *, read: Collection[str] = ()) -> None:
    """Ensure that the folder ``home`` is intact; call ``build`` to create it where it is not.

    A file lock keeps concurrent processes from building twice.  The seal covers the content of
    files named in ``read``, and name, size and time of all others.  Raises ``HostError`` when the
    cache cannot be written, and whatever ``build`` raises.
    """
    if intact(home, read=read):
        return
    with refusals(home):
        home.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{home}.lock"):
            if not intact(home, read=read):
                _remove(home)
                build()
                digest = _digest(home, read)
                os.sync()  # after a power loss the seal must not be there with the files empty
                _seal(home).write_text(digest, encoding="ascii")


def intact(home: Path, *, read: Collection[str] = ()) -> bool:
    """Whether ``home`` still matches its seal."""
    try:
        return _seal(home).read_text(encoding="ascii") == _digest(home, read)
    except (OSError, UnicodeDecodeError):
        return False


def _seal(home: Path) -> Path:
    return home.with_name(f"{home.name}.sealed")


def _remove(home: Path) -> None:
    _seal(home).unlink(missing_ok=True)
    if home.is_dir() and not home.is_symlink():
        shutil.rmtree(home)
    else:
        home.unlink(missing_ok=True)


def _digest(home: Path, read: Collection[str]) -> str:
    """Digest of every file and link; raises ``OSError`` for a missing one or a broken link."""
    digest = hashlib.sha256()
    for entry in _files(home):
        name = entry.path.removeprefix(str(home))
        digest.update(f"{name}\0{_fingerprint(entry)}\0".encode(errors="surrogateescape"))
        if entry.name in read:
            digest.update(Path(entry.path).read_bytes())
    return digest.hexdigest()


def _files(folder: str | Path) -> Iterator[os.DirEntry[str]]:
    """Yield the files and links below the folder, recursively, sorted by name."""
    with os.scandir(folder) as scan:
        entries = sorted(scan, key=lambda entry: entry.name)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _files(entry.path)
        else:
            yield entry


def _fingerprint(entry: os.DirEntry[str]) -> str:
    """Size and whole second of a file, as copies often lose the fraction; target of a link."""
    if entry.is_symlink():
        entry.stat()
        return str(Path(entry.path).readlink())
    status = entry.stat(follow_symlinks=False)
    return f"{status.st_size} {int(status.st_mtime)}"


def refusals(home: Path) -> AbstractContextManager[None]:
    """Turn an ``OSError`` into a ``HostError``: one sentence about the cache."""
    advice = "free space or rights there, or set XDG_CACHE_HOME to another folder"
    return errors.refusals(HostError, home, "cannot be made in the cache: ", advice)

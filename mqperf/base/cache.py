"""The user's cache: what is fetched and built once, and looked at each time before it is used.

A folder of the cache counts only with its seal: a digest of all names, sizes and times in it, which
is written beside it as the last step.  What is half made, or was damaged or changed afterwards, is
made anew.
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
    """The folder of the cache; raises ``HostError`` when this user has no home folder."""
    with suppress(RuntimeError):  # what platformdirs says of it; earlier releases gave ~/.cache
        folder = user_cache_path("mqperf")
        if folder.is_absolute():
            return folder
    raise HostError(
        "no place for the cache of load generators and brokers, since this user has no home"
        " folder: set HOME or XDG_CACHE_HOME to an absolute path"
    )


def make(home: Path, build: Callable[[], object], *, read: Collection[str] = ()) -> None:
    """See to it that the folder ``home`` is whole; ``build`` makes it where it is not.

    Two processes that ask at once build it once.  Of the files named in ``read`` every byte counts,
    the others are known by name, size and time.  Raises ``HostError`` when the cache cannot be
    written, and what ``build`` raises.
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
                os.sync()  # a seal that outlives a loss of power must not vouch for empty files
                _seal(home).write_text(digest, encoding="ascii")


def intact(home: Path, *, read: Collection[str] = ()) -> bool:
    """Whether ``home`` is just as it was sealed."""
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
    """Digest of every file and link; raises ``OSError`` for what is missing or leads nowhere."""
    digest = hashlib.sha256()
    for entry in _files(home):
        name = entry.path.removeprefix(str(home))
        digest.update(f"{name}\0{_known_by(entry)}\0".encode(errors="surrogateescape"))
        if entry.name in read:
            digest.update(Path(entry.path).read_bytes())
    return digest.hexdigest()


def _files(folder: str | Path) -> Iterator[os.DirEntry[str]]:
    """Everything below the folder that is no folder itself, in the order of names."""
    with os.scandir(folder) as scan:
        entries = sorted(scan, key=lambda entry: entry.name)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _files(entry.path)
        else:
            yield entry


def _known_by(entry: os.DirEntry[str]) -> str:
    """Of a file its size and second, since copies often keep no more; of a link where it leads."""
    if entry.is_symlink():
        entry.stat()
        return str(Path(entry.path).readlink())
    facts = entry.stat(follow_symlinks=False)
    return f"{facts.st_size} {int(facts.st_mtime)}"


def refusals(home: Path) -> AbstractContextManager[None]:
    """Turn the system's refusal into one sentence about the cache."""
    advice = "free space or rights there, or set XDG_CACHE_HOME to another folder"
    return errors.refusals(HostError, home, "cannot be made in the cache: ", advice)

"""Recorded files are opened here: only regular files, of a size that a record can have.

A run folder may come from anywhere.  What stands in the place of a file may be a link to another
place, a named pipe that nobody writes to, a device or a folder; none of them is opened.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from pydantic import ValidationError

from mqperf.base.errors import RecordError

MIB = 2**20
TEXT_LIMIT_BYTES = 1024 * MIB
"""Of a log, and of what a probe or the simulator wrote: hours of hundreds of processes."""

FACTS_LIMIT_BYTES = 16 * MIB
"""Of ``run.json`` and of ``events.jsonl``."""

MESSAGES_LIMIT_BYTES = 4096 * MIB
"""Of a ``.messages`` file: 170 million round trips of one process."""

FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextmanager
def opened(path: Path, limit_bytes: int = TEXT_LIMIT_BYTES) -> Iterator[BufferedReader]:
    """The file for reading, once it is known to be a regular one of at most ``limit_bytes``.

    Raises ``RecordError`` for anything else, and ``OSError`` when it is missing or not readable.
    """
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        raise RecordError(f"{path}: {kind(status.st_mode)}, where a recorded file should be")
    if status.st_size > limit_bytes:
        raise RecordError(
            f"{path}: {status.st_size} bytes; a recorded file of its kind has at most {limit_bytes}"
        )
    with os.fdopen(os.open(path, FLAGS), "rb") as file:
        yield file


def content(path: Path, limit_bytes: int = TEXT_LIMIT_BYTES) -> bytes:
    """All of the file; raises as ``opened`` does."""
    with opened(path, limit_bytes) as file:
        return file.read()


def kind(mode: int) -> str:
    """What a file of this mode is, in words."""
    kinds = {
        stat.S_IFREG: "a file",
        stat.S_IFDIR: "a folder",
        stat.S_IFLNK: "a link",
        stat.S_IFIFO: "a named pipe",
        stat.S_IFSOCK: "a socket",
    }
    return kinds.get(stat.S_IFMT(mode), "a device")


def first_problem(error: ValidationError) -> str:
    """The first of the complaints about recorded text: ``window.end: input should be ...``."""
    problem = error.errors()[0]
    place = ".".join(map(str, problem["loc"]))
    words = problem["msg"].removeprefix("Value error, ")
    text = words if problem["type"] == "value_error" else words[:1].lower() + words[1:]
    return f"{place}: {text}" if place else text


def is_cut(error: ValidationError) -> bool:
    """Whether the text is no JSON at all, as when it was cut short."""
    return error.errors()[0]["type"] == "json_invalid"

"""Safe opening of recorded files: only regular files, of a size that a record can have.

A run folder may come from an untrusted source.  Links, named pipes without a writer, devices and
folders in the place of a file are not opened.
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
"""Limit of logs and outputs of probes and the simulator: hours of hundreds of processes."""

FACTS_LIMIT_BYTES = 16 * MIB
"""Limit of ``run.json`` and of ``events.jsonl``."""

MESSAGES_LIMIT_BYTES = 4096 * MIB
"""Limit of a ``.messages`` file: 170 million round trips of one process."""

FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextmanager
def opened(path: Path, limit_bytes: int = TEXT_LIMIT_BYTES) -> Iterator[BufferedReader]:
    """Open a regular file of at most ``limit_bytes`` for reading.

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
    """Return all bytes of the file; raises as ``opened`` does."""
    with opened(path, limit_bytes) as file:
        return file.read()


def kind(mode: int) -> str:
    """Return the kind of file that a mode means, with its article."""
    kinds = {
        stat.S_IFREG: "a file",
        stat.S_IFDIR: "a folder",
        stat.S_IFLNK: "a link",
        stat.S_IFIFO: "a named pipe",
        stat.S_IFSOCK: "a socket",
    }
    return kinds.get(stat.S_IFMT(mode), "a device")


def first_problem(error: ValidationError) -> str:
    """Return the first validation error as text: ``window.end: input should be ...``."""
    problem = error.errors()[0]
    path = ".".join(map(str, problem["loc"]))
    message = problem["msg"].removeprefix("Value error, ")
    text = message if problem["type"] == "value_error" else message[:1].lower() + message[1:]
    return f"{path}: {text}" if path else text


def is_cut(error: ValidationError) -> bool:
    """Whether the text is not valid JSON, as when it was cut short."""
    return error.errors()[0]["type"] == "json_invalid"

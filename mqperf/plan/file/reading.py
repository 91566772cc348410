"""Reading of files that a user names, which never blocks."""

import os
import stat
from pathlib import Path


class UnreadableError(Exception):
    """A file cannot be read; the message is the reason."""


def first_bytes(path: Path, count: int) -> bytes:
    """Return the first ``count`` bytes of a file, or all if it has fewer.

    Raises ``UnreadableError``, also for a device or a pipe, which might never end.
    """
    try:
        with open(path, "rb", opener=lambda at, flags: os.open(at, flags | os.O_NONBLOCK)) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UnreadableError("it is no file, but a folder, a device or a pipe")
            return file.read(count)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UnreadableError(str(reason)) from None

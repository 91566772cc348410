"""Files that a user names, read without ever waiting."""

import os
import stat
from pathlib import Path


class UnreadableError(Exception):
    """A file that cannot be read: why, in a few words."""


def first_bytes(path: Path, count: int) -> bytes:
    """So many bytes of a file, or all that it has.

    Raises ``UnreadableError`` for what cannot be read; a device or a pipe, which might never end,
    is not.
    """
    try:
        with open(path, "rb", opener=lambda at, flags: os.open(at, flags | os.O_NONBLOCK)) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UnreadableError("it is no file, but a folder, a device or a pipe")
            return file.read(count)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UnreadableError(str(reason)) from None

"""Read and write files at paths given by the user: untrusted input, and writes that may fail."""

from contextlib import AbstractContextManager
from pathlib import Path

from mqperf.base.errors import TableError
from mqperf.onhost.errors import refusals
from mqperf.plan.file.reading import UnreadableError, first_bytes

MIB = 2**20


def text_of(file: Path, name: object, limit_bytes: int) -> str:
    """The text of the file, without a byte order mark; ``name`` is its name in messages.

    Raises ``TableError`` for an unreadable file, a pipe, more than ``limit_bytes``, or no text.
    """
    try:
        content = first_bytes(file, limit_bytes + 1)
    except UnreadableError as error:
        raise TableError(f"{name}: cannot be read: {error}") from None
    if len(content) > limit_bytes:
        raise TableError(
            f"{name}: cannot be read: it has more than {limit_bytes / MIB:g} MiB, the most allowed"
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TableError(f"{name}:{_line(content, error.start)}: is not UTF-8 text") from None
    if "\0" in text:
        raise TableError(
            f"{name}:{_line(content, content.index(0))}: holds a NUL, so it is no text"
        )
    return text


def writing(folder: Path) -> AbstractContextManager[None]:
    """Turn an ``OSError`` (disk full, no permission) into one ``TableError`` about the path."""
    advice = "free space or rights there, or give another folder with --out"
    return refusals(TableError, folder, "cannot be written: ", advice)


def _line(content: bytes, position: int) -> int:
    return content.count(b"\n", 0, position) + 1

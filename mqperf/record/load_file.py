"""Opening of files that processes of a load wrote, with errors as ``LoadError``."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from mqperf.base import raw
from mqperf.base.errors import LoadError


@contextmanager
def opened(
    path: Path,
    limit_bytes: int = raw.TEXT_LIMIT_BYTES,
    missing: str = "its process died before it could save",
) -> Iterator[BufferedReader]:
    """Open a file; raises `LoadError` when it is missing (for the reason given), or unreadable."""
    try:
        with raw.opened(path, limit_bytes) as file:
            yield file
    except FileNotFoundError:
        raise LoadError(f"{path} is missing: {missing}.") from None
    except OSError as error:
        raise LoadError(f"{path} cannot be read: {error.strerror}.") from None

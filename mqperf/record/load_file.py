"""Files that processes of a load left, opened; an error says why there is none."""

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
    """The file for reading; raises `LoadError` when it is ``missing``, or cannot be read."""
    try:
        with raw.opened(path, limit_bytes) as file:
            yield file
    except FileNotFoundError:
        raise LoadError(f"{path} is missing: {missing}.") from None
    except OSError as error:
        raise LoadError(f"{path} cannot be read: {error.strerror}.") from None

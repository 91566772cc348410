"""Exceptions of code on hosts; all others are in ``base.errors``."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class OneLine(BaseException):
    """An exception that notebooks show as one line."""

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows instead of a traceback."""
        return [f"mqperf: {self}"]


class MqperfError(OneLine, Exception):
    """Base of all errors that mqperf can explain."""


class HostError(MqperfError):
    """A host refused a process, a port or a folder."""


@contextmanager
def refusals(kind: type[MqperfError], path: Path, what: str, advice: str) -> Iterator[None]:
    """Turn an ``OSError`` (disk full, no rights) into an error with one sentence about the path.

    ``what`` comes before the system's reason, ``advice`` after it.
    """
    try:
        yield
    except OSError as error:
        reason = f"{what}{error.strerror or error}"
        raise kind(f"{error.filename or path}: {reason}; {advice}") from None

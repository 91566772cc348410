"""What can go wrong on a host; all else is in ``base.errors``."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class OneLine(BaseException):
    """What a cell of a notebook shows as one line."""

    def _render_traceback_(self) -> list[str]:
        """Give what it shows instead of a traceback: IPython asks for it."""
        return [f"mqperf: {self}"]


class MqperfError(OneLine, Exception):
    """Anything mqperf can explain."""


class HostError(MqperfError):
    """A host that refused us a process, a port or a folder."""


@contextmanager
def refusals(kind: type[MqperfError], path: Path, what: str, advice: str) -> Iterator[None]:
    """Turn the system's refusal (disk full, no rights) into one sentence about the path.

    ``what`` stands before its reason, and ``advice`` behind it.
    """
    try:
        yield
    except OSError as error:
        reason = f"{what}{error.strerror or error}"
        raise kind(f"{error.filename or path}: {reason}; {advice}") from None

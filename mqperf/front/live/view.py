"""Live views of a sweep outside this terminal or notebook, which packages register."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from mqperf.base.errors import InstallError
from mqperf.base.registry import Registry
from mqperf.lab.pulse import Pulse


@dataclass(frozen=True, slots=True)
class View:
    """A live view; the context manager of ``served`` serves it, and yields its address."""

    name: str
    served: Callable[[Pulse], AbstractContextManager[str]]


VIEWS: Registry[View] = Registry("views")


def served(pulse: Pulse) -> AbstractContextManager[str]:
    """Serve the live page; raises ``InstallError`` where its package is not installed."""
    if "live-page" not in VIEWS:
        raise InstallError("the live page: to have it, install mqperf-live")
    return VIEWS["live-page"].served(pulse)

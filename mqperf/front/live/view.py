"""Views of a sweep for those who look on from elsewhere, which packages add."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from mqperf.base.errors import InstallError
from mqperf.base.registry import Registry
from mqperf.lab.pulse import Pulse


@dataclass(frozen=True, slots=True)
class View:
    """A view by its ``name``; it is ``served`` while that lasts, at the address that is given."""

    name: str
    served: Callable[[Pulse], AbstractContextManager[str]]


VIEWS: Registry[View] = Registry("views")


def served(pulse: Pulse) -> AbstractContextManager[str]:
    """Serve the live page; raises ``InstallError`` where its package is not installed."""
    if "live-page" not in VIEWS:
        raise InstallError("the live page: to have it, install mqperf-live")
    return VIEWS["live-page"].served(pulse)

"""Interfaces of the emulated network between two roles of a run, and of its backends."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pydantic import JsonValue

from mqperf.base.errors import HostError
from mqperf.hosts import Hosts
from mqperf.plan import LinkPoint
from mqperf.record import MeasuredLink


@runtime_checkable
class Cable(Protocol):
    """The operations of a link that disturb it."""

    def cut(self) -> None:
        """Take down the carrier at both ends, so that their hosts notice."""
        ...

    def swallow(self) -> None:
        """Drop every packet silently."""
        ...

    def beyond(self, quantities: Mapping[str, float]) -> str | None:
        """Return why it cannot replace the plan's values by these, by column; None if it can."""
        ...

    def impair(self, quantities: Mapping[str, float]) -> None:
        """Replace the plan's values by these, by column."""
        ...

    def restore(self) -> None:
        """Undo all disturbances, if there are any."""
        ...


class Laid(Cable, Protocol):
    """An existing link; it lasts as long as the context of ``Backend.laid``."""

    def measure(self) -> MeasuredLink:
        """Measure the link with packets sent over it; not to be used in a measured window."""
        ...

    def check(self) -> None:
        """Raise ``HostError`` when it does not exist any more; this is cheap."""
        ...

    def processes(self) -> Mapping[str, Mapping[str, int]]:
        """Return its processes: by name of a host, pids by label."""
        ...

    def facts(self) -> Mapping[str, JsonValue]:
        """Return further facts to be recorded."""
        ...


@dataclass(frozen=True, slots=True)
class Backend:
    """An implementation of links.

    ``obstacle`` returns a sentence why no link can be created between these hosts, or None.
    ``laid`` creates it on entering and removes it on leaving, even after errors.
    """

    name: str
    title: str
    obstacle: Callable[[LinkPoint, Hosts], str | None]
    laid: Callable[[LinkPoint, Hosts], AbstractContextManager[Laid]]


def choose(backends: Iterable[Backend], link: LinkPoint, hosts: Hosts) -> Backend:
    """Return the first backend that can create the link; raises ``HostError`` if none can."""
    obstacles = []
    for backend in backends:
        if (obstacle := backend.obstacle(link, hosts)) is None:
            return backend
        obstacles.append(f"{backend.title}: {obstacle}")
    between = " and ".join(link.between)
    reason = "; ".join(obstacles) or "no backend is installed; mqperf-links has one"
    raise HostError(
        f"no link can be made between {between}: {reason};"
        " leave link: out of the plan, or install a package that brings a backend"
    )

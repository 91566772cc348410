"""What makes the network between two roles of a run as a plan asks for it, and measures it."""

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
    """A link, as far as it can be disturbed."""

    def cut(self) -> None:
        """Take the carrier away at both ends: their hosts know."""
        ...

    def swallow(self) -> None:
        """Let every packet vanish, and nobody know."""
        ...

    def beyond(self, quantities: Mapping[str, float]) -> str | None:
        """What of these quantities, by column and in the place of the plan's, it cannot have."""
        ...

    def impair(self, quantities: Mapping[str, float]) -> None:
        """Have these quantities in the place of the plan's."""
        ...

    def restore(self) -> None:
        """Undo all of it; no harm where nothing was done."""
        ...


class Laid(Cable, Protocol):
    """A link that is there; it stays so until the context which gave it is left."""

    def measure(self) -> MeasuredLink:
        """What the link is like now, by packets that go over it; not for a measured window."""
        ...

    def check(self) -> None:
        """Raise ``HostError`` when it is there no more; costs next to nothing."""
        ...

    def processes(self) -> Mapping[str, Mapping[str, int]]:
        """What runs for it: by the name of a host, pids there by label."""
        ...

    def facts(self) -> Mapping[str, JsonValue]:
        """What else is to be recorded of it."""
        ...


@dataclass(frozen=True, slots=True)
class Backend:
    """A way to make links.

    ``obstacle`` says in a sentence why it cannot make one between these hosts, or gives None.
    ``laid`` makes it on entering and takes it away on leaving, whatever happened meanwhile.
    """

    name: str
    title: str
    obstacle: Callable[[LinkPoint, Hosts], str | None]
    laid: Callable[[LinkPoint, Hosts], AbstractContextManager[Laid]]


def choose(backends: Iterable[Backend], link: LinkPoint, hosts: Hosts) -> Backend:
    """The first backend that can make the link; raises ``HostError`` with what is in its way."""
    obstacles = []
    for backend in backends:
        if (obstacle := backend.obstacle(link, hosts)) is None:
            return backend
        obstacles.append(f"{backend.title}: {obstacle}")
    between = " and ".join(link.between)
    reason = "; ".join(obstacles) or "there is no backend; mqperf-links has one"
    raise HostError(
        f"no link can be made between {between}: {reason};"
        " leave link: out of the plan, or install a package that brings a backend"
    )

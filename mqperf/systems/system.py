"""What every system under test is, to those who measure it."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pydantic import JsonValue

from mqperf.hosts import Host, Spot, Watched
from mqperf.load import Access
from mqperf.plan import Case
from mqperf.systems.tool import Tool


@dataclass(frozen=True, slots=True)
class Node:
    """One node of a deployment: as reports call it, and as the system calls it.

    ``process`` and ``host`` are None when the node runs where we cannot see it.
    """

    label: str
    name: str
    process: Watched | None
    host: Host | None = None


class Deployment(Protocol):
    """A system that is up; it stays so until the context which gave it is left."""

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes, in the order in which topologies count them."""
        ...

    def provision(self, case: Case, run_id: str) -> Access:
        """Prepare what one run needs and give access to it; no queue of another run is seen."""
        ...

    def clean_up(self, run_id: str, queues: Sequence[str]) -> None:
        """Remove what the run left in the system; ``queues`` are those that its load declared."""
        ...

    def facts(self) -> dict[str, JsonValue]:
        """Versions, configuration and state, without secrets; not for a measured window."""
        ...

    def check(self) -> None:
        """Raise ``SystemFault`` when a node is dead; cheap enough for a measured window."""
        ...

    def collect(self, folder: Path) -> None:
        """Copy configuration and what was logged since the last call, without secrets."""
        ...


@dataclass(frozen=True, slots=True)
class System:
    """A kind of system: what it can do, and how to start one.

    ``drivers`` names, by generator, its driver that speaks to the system.  ``installed`` gives the
    version that is installed on a host, or raises ``SystemFault`` with the command to install it.
    ``check`` raises ``SystemFault`` for settings that the system does not know.  ``start`` takes
    the settings, and the hosts for its nodes in their order, each with a private folder which its
    caller removes; with fewer hosts than nodes, hosts have several.  ``queue_kind`` gives the kind
    of queue that a plan gets on a host for one that it asks for, or raises ``SystemFault`` when it,
    or the whole system, cannot be had there; None where a kind is always what its name says.
    ``tools`` are what the hosts of its nodes must have.
    """

    name: str
    title: str
    topologies: tuple[str, ...]
    queues: tuple[str, ...]
    drivers: Mapping[str, str]
    installed: Callable[[Host], str]
    check: Callable[[Mapping[str, JsonValue]], object]
    start: Callable[[Mapping[str, JsonValue], Sequence[Spot]], AbstractContextManager[Deployment]]
    queue_kind: Callable[[str, Mapping[str, JsonValue], Host], str] | None = None
    tools: tuple[Tool, ...] = ()

    def queues_on(self, host: Host, asked: str, settings: Mapping[str, JsonValue]) -> str:
        """What a plan gets for the kind of queue that it asks for; raises ``SystemFault``."""
        if self.queue_kind is not None:
            return self.queue_kind(asked, settings, host)
        self.installed(host)
        return asked


def node_label(index: int) -> str:
    """Name a node as the published reports do: Master, Slave 1, Slave 2."""
    return f"Slave {index}" if index else "Master"

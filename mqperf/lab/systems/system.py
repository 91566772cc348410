"""What every system under test is, to those who measure it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from pydantic import JsonValue

from mqperf.base.errors import SystemFault
from mqperf.hosts import Host, HostFolder, Restartable, Watched
from mqperf.lab.load import LAUNCHERS, Access
from mqperf.lab.probes import Inside
from mqperf.lab.systems.service import Server
from mqperf.lab.tool import Tool
from mqperf.plan import Case
from mqperf.plan.topologies import TOPOLOGIES


@dataclass(frozen=True, slots=True)
class Node:
    """One node of a deployment: as reports call it, and as the system calls it.

    ``process`` and ``host`` are None when the node runs where we cannot see it.  ``service`` is
    there for one that can be ended on purpose and started again, ``inside`` for one that tells of
    its inside.
    """

    label: str
    name: str
    process: Watched | None
    host: Host | None = None
    service: Restartable | None = None
    inside: Inside | None = None


class Deployment(Protocol):
    """A system that is up; it stays so until the context which gave it is left."""

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes, in the order in which topologies count them."""
        ...

    @property
    def ends_with_us(self) -> bool:
        """Whether what runs left in it is gone when that context is left."""
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


def _no_broker(label: str, _host_folder: HostFolder, _port: int) -> Server:
    raise SystemFault(f"{label} is of a system that gives no other one a broker")


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
    ``encrypts`` tells whether clients of a deployment with these settings connect by TLS only.
    ``tools`` are what the hosts of its nodes must have.  ``own_deployment`` says if a topology
    is one of its own, for which ``start`` finds its name among the settings, as ``topology``.
    ``incompatible_queues`` gives by topology and kind of queue why there is no such pair,
    ``incompatible_test_cases`` by test case why clients of the system cannot do that.
    ``telling`` are settings with which its nodes tell of their inside; None where none can.
    ``forms`` begin the names of topologies that it has beside those listed, as ``ring`` begins
    ``ring-4``.  ``incompatible_settings`` tells why a topology cannot be had with these settings,
    checked or not, ``labels`` what its nodes are called, if that is known before it is started.
    ``broker`` gives one broker under a label, in a folder of a host, at a port, for another system
    that has brokers among its nodes; it raises ``SystemFault`` where there can be none.
    ``getting`` gets what the hosts lack for these settings, and says each time what it begins.
    """

    name: str
    title: str
    topologies: tuple[str, ...]
    queues: tuple[str, ...]
    drivers: Mapping[str, str]
    installed: Callable[[Host], str]
    check: Callable[[Mapping[str, JsonValue]], object]
    start: Callable[
        [Mapping[str, JsonValue], Sequence[HostFolder]], AbstractContextManager[Deployment]
    ]
    queue_kind: Callable[[str, Mapping[str, JsonValue], Host], str] | None = None
    encrypts: Callable[[Mapping[str, JsonValue]], bool] = lambda _settings: False
    tools: tuple[Tool, ...] = ()
    own_deployment: Callable[[str], bool] = lambda _topology: False
    incompatible_queues: Mapping[tuple[str, str], str] = field(default_factory=dict)
    incompatible_test_cases: Mapping[str, str] = field(default_factory=dict)
    telling: Mapping[str, JsonValue] | None = None
    forms: tuple[str, ...] = ()
    incompatible_settings: Callable[[str, Mapping[str, JsonValue]], str | None] = lambda *_: None
    labels: Callable[[str, Mapping[str, JsonValue]], tuple[str, ...] | None] = lambda *_: None
    broker: Callable[[str, HostFolder, int], Server] = _no_broker
    getting: Callable[[Mapping[str, JsonValue], Sequence[Host]], Iterator[str]] = (
        lambda _settings, _hosts: iter(())
    )

    def driver(self, generator: str) -> str | None:
        """The driver by which a generator talks to it; None for one that cannot.

        It is one of ``drivers``, or the generator names the system.
        """
        launcher = LAUNCHERS.get(generator)
        named = {} if launcher is None else launcher.drivers
        return self.drivers.get(generator, named.get(self.name))

    @property
    def every_driver(self) -> dict[str, str]:
        """That of each generator which can talk to it."""
        drivers = {name: self.driver(name) for name in dict.fromkeys((*self.drivers, *LAUNCHERS))}
        return {name: driver for name, driver in drivers.items() if driver is not None}

    def watched(self, settings: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """The settings with those by which its nodes, if they can, tell of their inside."""
        return {**settings, **(self.telling or {})}

    def offers(self, topology: str) -> bool:
        """Whether it has a topology of this name."""
        of_form = topology.partition("-")[0] in self.forms and topology in TOPOLOGIES
        return topology in self.topologies or of_form

    def started(
        self, settings: Mapping[str, JsonValue], topology: str, host_folders: Sequence[HostFolder]
    ) -> AbstractContextManager[Deployment]:
        """The system as cases of this topology need it."""
        needed = {**settings, "topology": topology} if self.own_deployment(topology) else settings
        return self.start(needed, host_folders)

    def queues_on(self, host: Host, asked: str, settings: Mapping[str, JsonValue]) -> str:
        """What a plan gets for the kind of queue that it asks for; raises ``SystemFault``."""
        if self.queue_kind is not None:
            return self.queue_kind(asked, settings, host)
        self.installed(host)
        return asked


ONLY_BROKER = "Broker"
"""How reports call the only broker of a system."""


def node_label(index: int) -> str:
    """Name a node as the published reports do: Master, Slave 1, Slave 2."""
    return f"Slave {index}" if index else "Master"

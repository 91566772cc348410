"""The interface of every system under test to the runner."""

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
    """One node of a deployment: ``label`` is its name in reports, ``name`` that in the system.

    ``process`` and ``host`` are None when the node runs where it is not visible.  ``service`` is
    set for a node that can be ended on purpose and restarted, ``inside`` for one that reports
    metrics.
    """

    label: str
    name: str
    process: Watched | None
    host: Host | None = None
    service: Restartable | None = None
    inside: Inside | None = None


class Deployment(Protocol):
    """A running system; it runs until the context that provided it is left."""

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes, in the order in which topologies count them."""
        ...

    @property
    def ends_with_us(self) -> bool:
        """Whether everything that runs left in it disappears when that context is left."""
        ...

    def provision(self, case: Case, run_id: str) -> Access:
        """Provision the system for one run, isolated from other runs, and return the access."""
        ...

    def clean_up(self, run_id: str, queues: Sequence[str]) -> None:
        """Remove what the run left in the system; ``queues`` are those that its load declared."""
        ...

    def facts(self) -> dict[str, JsonValue]:
        """Return versions, configuration and state, without secrets; not in a measured window."""
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
    """A kind of system: its properties, and how to start one.

    ``drivers`` has, by generator, the driver for the system.  ``installed`` returns the version
    installed on a host, or raises ``SystemFault`` with the command to install it.  ``check`` raises
    ``SystemFault`` for settings that the system does not know.  ``start`` takes the settings, and
    the hosts of its nodes in order, each with a private folder that the caller removes; with fewer
    hosts than nodes, some hosts have several nodes.  ``queue_kind`` returns the actual kind of
    queue on a host for a planned kind, or raises ``SystemFault`` when this kind, or the whole
    system, is not available there; None where planned and actual kind are always the same.
    ``encrypts`` returns whether clients of a deployment with these settings connect by TLS only.
    ``tools`` are the programs that the hosts of its nodes must have.  ``own_deployment`` returns
    whether a topology needs its own deployment, for which ``start`` gets the setting ``topology``,
    its name.  ``incompatible_queues`` has, by topology and kind of queue, why they cannot be
    combined, ``incompatible_test_cases``, by test case, why clients of the system cannot run it.
    ``telling`` are settings with which its nodes report metrics; None where none can.  ``forms``
    are prefixes of further topologies, as ``ring`` in ``ring-4``.  ``incompatible_settings``
    returns why a topology is not available with these settings, validated or not, ``labels`` the
    labels of its nodes, if known before the start.  ``broker`` returns the server of one broker
    with a label, in a folder of a host, at a port, for another system that has brokers among its
    nodes; it raises ``SystemFault`` where there can be none.  ``getting`` installs what the hosts
    lack for these settings, and yields a description of each step before it begins.
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
        """Return the driver of a generator for the system; None if the generator has none.

        It is one of ``drivers``, or of the launcher's drivers.
        """
        launcher = LAUNCHERS.get(generator)
        by_system = {} if launcher is None else launcher.drivers
        return self.drivers.get(generator, by_system.get(self.name))

    @property
    def every_driver(self) -> dict[str, str]:
        """The driver of each generator that has one for the system."""
        drivers = {name: self.driver(name) for name in dict.fromkeys((*self.drivers, *LAUNCHERS))}
        return {name: driver for name, driver in drivers.items() if driver is not None}

    def watched(self, settings: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """Return the settings with those by which its nodes, if they can, report metrics."""
        return {**settings, **(self.telling or {})}

    def offers(self, topology: str) -> bool:
        """Return whether it has a topology of this name."""
        of_form = topology.partition("-")[0] in self.forms and topology in TOPOLOGIES
        return topology in self.topologies or of_form

    def started(
        self, settings: Mapping[str, JsonValue], topology: str, host_folders: Sequence[HostFolder]
    ) -> AbstractContextManager[Deployment]:
        """Return the context of a deployment for cases of this topology."""
        needed = {**settings, "topology": topology} if self.own_deployment(topology) else settings
        return self.start(needed, host_folders)

    def queues_on(self, host: Host, asked: str, settings: Mapping[str, JsonValue]) -> str:
        """Return the actual kind of queue for a planned one; raises ``SystemFault``."""
        if self.queue_kind is not None:
            return self.queue_kind(asked, settings, host)
        self.installed(host)
        return asked


ONLY_BROKER = "Broker"
"""The label in reports of the only broker of a system."""


def node_label(index: int) -> str:
    """Return the label of a node as in the published reports: Master, Slave 1, Slave 2."""
    return f"Slave {index}" if index else "Master"

"""Systems of brokers in Java, which speak AMQP 1.0: one alone, or three with ZooKeeper."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

from pydantic import JsonValue
from typing_extensions import override

from mqperf.base.problems import Problem
from mqperf.base.releases import is_of
from mqperf.hosts import Host, HostFolder
from mqperf.lab.load import Access, Endpoint
from mqperf.lab.systems.private import PrivateDeployment, ServerLauncher, Servers
from mqperf.lab.systems.service import Server
from mqperf.lab.systems.settings import Flag, SettingsFault, VersionAsked, checked
from mqperf.lab.systems.system import ONLY_BROKER, Deployment, Node, System
from mqperf.plan import Case
from mqperf_activemq.lab import zookeeper
from mqperf_activemq.lab.jolokia import Jolokia, jolokia_on
from mqperf_java.hosts.archive import Archive, available, fetched
from mqperf_java.lab.java import JAVA, JavaSettings, installed_java
from mqperf_java.lab.servers import Peers, ServerPlace, Tools

USER = "mqperf"
"""Whom a broker knows that knows users; its password is made at random."""

DRIVERS = {"simulator": "amqp", "amqp-1.0": "amqp-1.0"}
"""By generator, what speaks to such brokers."""


class BrokerSettings(JavaSettings):
    """What a plan may say about such a broker."""

    users: Flag = False


class TellingSettings(BrokerSettings):
    """What a plan may say about one that, with ``metrics``, tells of its inside."""

    metrics: Flag = False


class VersionedSettings(TellingSettings):
    """What a plan may say about one of which there are several versions."""

    version: VersionAsked | None = None


@dataclass(frozen=True, slots=True)
class Edition:
    """One version of a broker: its archive, the oldest Java for it, its file of settings.

    ``former`` are archives of other versions, which a plan may ask for.  ``jars`` are those of the
    archive, as patterns, that a class path must name, ``without`` one of them; ``beside`` are
    archives of one jar that it needs, too.
    """

    product: str
    archive: Archive
    oldest_java: int
    config: str
    former: tuple[Archive, ...] = ()
    jars: tuple[str, ...] = ()
    without: str = ""
    beside: tuple[Archive, ...] = ()

    def of(self, version: str) -> "Edition | None":
        """The same in the version that is asked for, ``2.44`` for any 2.44.x; None without one."""
        known = (self.archive, *self.former)
        asked = (archive for archive in known if is_of(archive.version, version))
        return next((replace(self, archive=archive) for archive in asked), None)

    def installed(self, host: Host) -> str:
        """The version, when the host has Java, and all else is here or can be fetched."""
        java = installed_java(self.oldest_java, host)
        for archive in (self.archive, *self.beside):
            available(archive)
        return f"{self.archive.version}, on Java {java.version}"

    def tools_on(self, host: Host, settings: JavaSettings) -> Tools:
        """The tools of brokers on a host, fetched here and copied there if they are not there."""
        java, ours = installed_java(self.oldest_java, host), fetched(self.archive)
        home = host.copied(ours)
        brought = (jar for pattern in self.jars for jar in ours.glob(pattern))
        jars = [
            *(home / jar.relative_to(ours) for jar in brought if jar.name != self.without),
            *(host.copied(fetched(jar)) / jar.file for jar in self.beside),
        ]
        return Tools(java, home, settings, jars)


@dataclass(frozen=True, slots=True)
class AmqpBrokers(PrivateDeployment):
    """The deployment: servers, the addresses of its brokers, the active one first."""

    addresses: tuple[str, ...]
    password: str = field(default="", repr=False)

    @property
    @override
    def nodes(self) -> tuple[Node, ...]:
        """Brokers, in the order of their addresses, then what they need."""
        places = {name: place for place, name in enumerate(self.addresses)}
        return tuple(
            sorted(self.servers.nodes, key=lambda node: places.get(node.name, len(places)))
        )

    def provision(self, _case: Case, _run_id: str) -> Access:
        """Give all brokers, the active one first; runs keep apart by their topics."""
        user = USER if self.password else ""
        brokers = Endpoint("amqp-1.0", self.addresses, user, self.password)
        return Access(brokers, brokers)

    def clean_up(self, _run_id: str, _queues: Sequence[str]) -> None:
        """Leave the run's queues to the broker, which removes those that nobody uses."""


@dataclass(frozen=True, slots=True)
class Group(Peers):
    """Brokers together, and where their ZooKeeper is.

    One that is alone is a group of its own, without any.  With a ``password`` they know a user, and
    ZooKeeper keeps what they write from others.
    """

    zookeeper: str = ""
    password: str = field(default="", repr=False)


def at_once(servers: Servers, brokers: Sequence[Server], timeout_s: float) -> Sequence[Server]:
    """Start all brokers, until each serves."""
    servers.start(brokers, timeout_s)
    return brokers


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of broker as a system, alone or, with ``keepers``, in a group that ZooKeeper knows.

    ``broker`` gives a broker of a group by its index, with the tools of its host.  ``up`` starts
    all, and gives them with the active one first.  One that ``tells`` does so of its inside; one
    that ``knows_users`` does so where a plan asks for it.
    """

    name: str
    title: str
    edition: Edition
    broker: Callable[[Tools, Group, int], Server]
    labels: tuple[str, ...] = (ONLY_BROKER,)
    keepers: zookeeper.Keepers | None = None
    tells: bool = True
    knows_users: bool = False
    up: Callable[[Servers, Sequence[Server], float], Sequence[Server]] = at_once

    def system(self) -> System:
        """The system."""
        alone = self.keepers is None
        labels = self.labels if alone else (*self.labels, *zookeeper.LABELS)
        return System(
            name=self.name,
            title=self.title,
            topologies=("single",) if alone else ("primary",),
            queues=("classic",) if alone else ("replicated",),
            drivers=DRIVERS,
            installed=self.edition.installed,
            check=self.check,
            start=self.start,
            tools=(JAVA,),
            telling={"metrics": True} if self.tells else None,
            labels=lambda _topology, _settings: labels,
        )

    def check(self, settings: Mapping[str, JsonValue]) -> BrokerSettings:
        """Check what a plan says about it."""
        model = TellingSettings if self.tells else BrokerSettings
        wanted = checked(self.name, VersionedSettings if self.edition.former else model, settings)
        if wanted.users and not self.knows_users:
            why = f"{self.title} is set up without users: leave it out"
            raise SettingsFault(self.name, [Problem(("users",), why)])
        self._edition(wanted)
        return wanted

    def _edition(self, wanted: BrokerSettings) -> Edition:
        """In the version that the plan asks for."""
        if not isinstance(wanted, VersionedSettings) or wanted.version is None:
            return self.edition
        if (edition := self.edition.of(wanted.version)) is None:
            known = (archive.version for archive in (self.edition.archive, *self.edition.former))
            why = f"{self.title} {wanted.version} is not known; known: {', '.join(known)}"
            raise SettingsFault(self.name, [Problem(("version",), why)])
        return edition

    def start(
        self, settings: Mapping[str, JsonValue], host_folders: Sequence[HostFolder]
    ) -> AbstractContextManager[Deployment]:
        """Run it, with a broker and a ZooKeeper on each host if there are as many.

        What it is made of is fetched first if it is not in the cache.
        """
        wanted, size = self.check(settings), len(self.labels)
        edition = self._edition(wanted)
        hosts = {host_folder.host.name: host_folder.host for host_folder in host_folders[:size]}
        tools = {name: edition.tools_on(host, wanted) for name, host in hosts.items()}
        with_metrics = isinstance(wanted, TellingSettings) and wanted.metrics
        agents = jolokia_on(*hosts.values()) if with_metrics else None
        password = secrets.token_hex(16) if wanted.users else ""

        def redact(text: str) -> str:
            text = text if agents is None else agents.redacted(text)
            return text.replace(password, "***") if password else text

        def launch(
            servers: Servers, ports: tuple[int, ...], host_folders: Sequence[HostFolder]
        ) -> AmqpBrokers:
            broker_ports, keeper_ports = ports[: 3 * size], ports[3 * size :]
            group = self._group(
                host_folders,
                broker_ports,
                agents,
                zookeeper.connect_string(host_folders, keeper_ports),
                password,
            )
            if self.keepers is not None:
                ensemble = zookeeper.ensemble(tools, self.keepers, host_folders, keeper_ports)
                servers.start(ensemble, wanted.start_timeout_s)
            brokers = [
                self.broker(tools[place.host_folder.host.name], group, index)
                for index, place in enumerate(group.places)
            ]
            active = self.up(servers, brokers, wanted.start_timeout_s)
            about = self._about(edition, tools[host_folders[0].host.name], brokers[0])
            about["config"] = redact(str(about["config"]))
            return AmqpBrokers(servers, about, tuple(broker.name for broker in active), password)

        launcher = ServerLauncher(self.title, host_folders, size, redact)
        ports = 3 * size + (0 if self.keepers is None else zookeeper.PORTS)
        return launcher.launched(ports, launch)

    def beside(self, label: str, host_folder: HostFolder, port: int) -> Server:
        """One among the nodes of another system, with the heap that it has by default."""
        tools = self.edition.tools_on(host_folder.host, JavaSettings())
        return self.broker(tools, Group([ServerPlace(label, host_folder, port)]), 0)

    def _group(
        self,
        host_folders: Sequence[HostFolder],
        ports: Sequence[int],
        agents: Jolokia | None,
        asked: str,
        password: str,
    ) -> Group:
        """Its group: ports are those for clients, then for other brokers, then of agents."""
        size, places = len(host_folders), []
        for label, host_folder, port, its in zip(
            self.labels, host_folders, ports[:size], ports[2 * size :], strict=True
        ):
            broker_folder = host_folder.within(label.lower().replace(" ", ""))
            agent = None if agents is None else agents.at(broker_folder, its)
            places.append(ServerPlace(label, broker_folder, port, agent))
        return Group(places, ports[size : 2 * size], asked, password)

    def _about(self, edition: Edition, tools: Tools, broker: Server) -> dict[str, JsonValue]:
        """Facts of the first broker and its tools."""
        keepers = "" if self.keepers is None else f", ZooKeeper {zookeeper.version(tools)}"
        return {
            "product": edition.product,
            "version": edition.archive.version,
            "runtime": f"Java {tools.java.version}{keepers}",
            "heap_bytes": tools.settings.heap_mb * 2**20,
            "config": broker.files[edition.config],
        }

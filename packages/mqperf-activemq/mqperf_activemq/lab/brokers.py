"""Systems of Java brokers with AMQP 1.0: one alone, or three with ZooKeeper."""

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
"""The only user of a broker with users; the password is random."""

DRIVERS = {"simulator": "amqp", "amqp-1.0": "amqp-1.0"}
"""Load generator -> its driver for these brokers."""


class BrokerSettings(JavaSettings):
    """The settings of a broker in a plan."""

    users: Flag = False


class TellingSettings(BrokerSettings):
    """The settings of a broker that can expose its ``metrics``."""

    metrics: Flag = False


class VersionedSettings(TellingSettings):
    """The settings of a broker that is available in several versions."""

    version: VersionAsked | None = None


@dataclass(frozen=True, slots=True)
class Edition:
    """One version of a broker: its archive, the oldest Java that runs it, its configuration file.

    ``former`` are archives of other versions, which a plan may request.  ``jars`` are patterns of
    those in the archive for the class path, except the one called ``without``; ``beside`` are
    archives of additional single jars for it.
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
        """Return the edition of a version, where ``2.44`` is any 2.44.x; None if it is unknown."""
        known = (self.archive, *self.former)
        matching = (archive for archive in known if is_of(archive.version, version))
        return next((replace(self, archive=archive) for archive in matching), None)

    def installed(self, host: Host) -> str:
        """Return the version, if the host has Java, and the archives are here or can be fetched."""
        java = installed_java(self.oldest_java, host)
        for archive in (self.archive, *self.beside):
            available(archive)
        return f"{self.archive.version}, on Java {java.version}"

    def tools_on(self, host: Host, settings: JavaSettings) -> Tools:
        """Return the tools of brokers on a host, fetched here and copied there where missing."""
        java, unpacked = installed_java(self.oldest_java, host), fetched(self.archive)
        home = host.copied(unpacked)
        shipped = (jar for pattern in self.jars for jar in unpacked.glob(pattern))
        jars = [
            *(home / jar.relative_to(unpacked) for jar in shipped if jar.name != self.without),
            *(host.copied(fetched(jar)) / jar.file for jar in self.beside),
        ]
        return Tools(java, home, settings, jars)


@dataclass(frozen=True, slots=True)
class AmqpBrokers(PrivateDeployment):
    """The deployment: servers, and the addresses of its brokers, the active one first."""

    addresses: tuple[str, ...]
    password: str = field(default="", repr=False)

    @property
    @override
    def nodes(self) -> tuple[Node, ...]:
        """The brokers, in the order of their addresses, then ZooKeeper."""
        order = {address: index for index, address in enumerate(self.addresses)}
        return tuple(sorted(self.servers.nodes, key=lambda node: order.get(node.name, len(order))))

    def provision(self, _case: Case, _run_id: str) -> Access:
        """Return access to all brokers, the active one first; runs use topics of their own."""
        user = USER if self.password else ""
        brokers = Endpoint("amqp-1.0", self.addresses, user, self.password)
        return Access(brokers, brokers)

    def clean_up(self, _run_id: str, _queues: Sequence[str]) -> None:
        """Do nothing: the broker removes queues that nobody uses."""


@dataclass(frozen=True, slots=True)
class Group(Peers):
    """The brokers of a group, and the connect string of their ZooKeeper.

    A single broker is a group without ZooKeeper.  With a ``password`` the brokers have a user, and
    ZooKeeper protects what they write.
    """

    zookeeper: str = ""
    password: str = field(default="", repr=False)


def at_once(servers: Servers, brokers: Sequence[Server], timeout_s: float) -> Sequence[Server]:
    """Start all brokers; return when each serves."""
    servers.start(brokers, timeout_s)
    return brokers


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of broker as a system, alone or, with ``keepers``, in a group that uses ZooKeeper.

    ``broker`` makes a broker of a group by its index, with the tools of its host.  ``up`` starts
    all, and returns them with the active one first.  ``tells`` says whether it can expose metrics,
    ``knows_users`` whether it can have a user; a plan asks for both.
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
        """Return this kind as a system."""
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
        """Check the settings in a plan."""
        model = TellingSettings if self.tells else BrokerSettings
        valid = checked(self.name, VersionedSettings if self.edition.former else model, settings)
        if valid.users and not self.knows_users:
            why = f"{self.title} is set up without users: leave it out"
            raise SettingsFault(self.name, [Problem(("users",), why)])
        self._edition(valid)
        return valid

    def _edition(self, settings: BrokerSettings) -> Edition:
        """Return the edition of the version that the plan requests, or of the default one."""
        if not isinstance(settings, VersionedSettings) or settings.version is None:
            return self.edition
        if (edition := self.edition.of(settings.version)) is None:
            known = (archive.version for archive in (self.edition.archive, *self.edition.former))
            why = f"{self.title} {settings.version} is not known; known: {', '.join(known)}"
            raise SettingsFault(self.name, [Problem(("version",), why)])
        return edition

    def start(
        self, settings: Mapping[str, JsonValue], host_folders: Sequence[HostFolder]
    ) -> AbstractContextManager[Deployment]:
        """Run the brokers, each with a ZooKeeper on a host of its own if there are enough hosts.

        Archives that are not in the cache are fetched first.
        """
        valid, size = self.check(settings), len(self.labels)
        edition = self._edition(valid)
        hosts = {host_folder.host.name: host_folder.host for host_folder in host_folders[:size]}
        tools = {name: edition.tools_on(host, valid) for name, host in hosts.items()}
        with_metrics = isinstance(valid, TellingSettings) and valid.metrics
        agents = jolokia_on(*hosts.values()) if with_metrics else None
        password = secrets.token_hex(16) if valid.users else ""

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
                servers.start(ensemble, valid.start_timeout_s)
            brokers = [
                self.broker(tools[place.host_folder.host.name], group, index)
                for index, place in enumerate(group.places)
            ]
            active_first = self.up(servers, brokers, valid.start_timeout_s)
            about = self._about(edition, tools[host_folders[0].host.name], brokers[0])
            about["config"] = redact(str(about["config"]))
            addresses = tuple(broker.name for broker in active_first)
            return AmqpBrokers(servers, about, addresses, password)

        launcher = ServerLauncher(self.title, host_folders, size, redact)
        ports = 3 * size + (0 if self.keepers is None else zookeeper.PORTS)
        return launcher.launched(ports, launch)

    def beside(self, label: str, host_folder: HostFolder, port: int) -> Server:
        """Return a broker among the nodes of another system, with the default heap."""
        tools = self.edition.tools_on(host_folder.host, JavaSettings())
        return self.broker(tools, Group([ServerPlace(label, host_folder, port)]), 0)

    def _group(
        self,
        host_folders: Sequence[HostFolder],
        ports: Sequence[int],
        agents: Jolokia | None,
        connect_string: str,
        password: str,
    ) -> Group:
        """Return the group; ``ports`` are those for clients, then for brokers, then of agents."""
        size, places = len(host_folders), []
        for label, host_folder, port, agent_port in zip(
            self.labels, host_folders, ports[:size], ports[2 * size :], strict=True
        ):
            broker_folder = host_folder.within(label.lower().replace(" ", ""))
            agent = None if agents is None else agents.at(broker_folder, agent_port)
            places.append(ServerPlace(label, broker_folder, port, agent))
        return Group(places, ports[size : 2 * size], connect_string, password)

    def _about(self, edition: Edition, tools: Tools, broker: Server) -> dict[str, JsonValue]:
        """Return facts on the first broker and its tools."""
        keepers = "" if self.keepers is None else f", ZooKeeper {zookeeper.version(tools)}"
        return {
            "product": edition.product,
            "version": edition.archive.version,
            "runtime": f"Java {tools.java.version}{keepers}",
            "heap_bytes": tools.settings.heap_mb * 2**20,
            "config": broker.files[edition.config],
        }

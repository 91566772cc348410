"""Artemis with high availability: a primary, two backups, and ZooKeeper which knows who is active.

One backup copies the primary's journal and takes over from it; the other waits to become the copy.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import JsonValue

from mqperf.hosts import Host, Spot
from mqperf.lab.systems import artemis_broker
from mqperf.lab.systems.amqp_brokers import DRIVERS, AmqpBrokers, TellingSettings
from mqperf.lab.systems.artemis_broker import ACTIVE, Part, broker
from mqperf.lab.systems.java import JAVA, zookeeper
from mqperf.lab.systems.java.archive import Archive, fetched
from mqperf.lab.systems.java.brokers import Tools
from mqperf.lab.systems.java.jolokia import Jolokia, jolokia_on
from mqperf.lab.systems.private import Servers, Site
from mqperf.lab.systems.service import Server
from mqperf.lab.systems.settings import checked
from mqperf.lab.systems.system import Deployment, System

LABELS = ("Primary", "Backup 1", "Backup 2")
SIZE = len(LABELS)
PORTS_OF_EACH = 3
"""For clients, for the other brokers, and for questions about its inside."""

# ZooKeeper's server is among the jars of Artemis; these two, which it needs, are not.
JARS = (
    Archive(
        group="io.dropwizard.metrics",
        artifact="metrics-core",
        version="4.1.12.1",
        sha512="5bbcae7dd5df21c35f377749d9ecb67673089f1574bad2855ee8f8a90862ffd6"
        "0f5b475af30fdc771fbde03f59fa264e66c573a37c714d1f0fdcdf350f99276f",
        extension="jar",
        classifier="",
    ),
    Archive(
        group="org.xerial.snappy",
        artifact="snappy-java",
        version="1.1.10.5",
        sha512="36c288aa84017b52362a49a20d1702151a16b9f58518b6877f11122941a549d9"
        "4fab8d515f7f1ad6384fb94be569328abf862edaf970c10a16832498dfda853b",
        extension="jar",
        classifier="",
    ),
)
EDITION = replace(artemis_broker.EDITION, beside=JARS)

AVAILABILITY = """\
    <connectors>
{connectors}    </connectors>
    <cluster-connections>
      <cluster-connection name="mqperf">
        <connector-ref>broker{index}</connector-ref>
        <static-connectors>
{others}        </static-connectors>
      </cluster-connection>
    </cluster-connections>
    <ha-policy>
      <replication>
        <{role}>
          <manager><properties>
            <property key="connect-string" value="{zookeeper}"/>
          </properties></manager>
{failback}        </{role}>
      </replication>
    </ha-policy>
"""
CONNECTOR = '      <connector name="broker{index}">tcp://{address}</connector>\n'
REFERENCE = "          <connector-ref>broker{index}</connector-ref>\n"
ACCEPTOR = '      <acceptor name="core">tcp://{address}?protocols=CORE</acceptor>\n'
NO_FAILBACK = "          <allow-failback>false</allow-failback>\n"

SYNCHRONIZED = "AMQ221024"
"""Artemis' code for: the backup holds all that the primary has."""


def check(settings: Mapping[str, JsonValue]) -> TellingSettings:
    """Check what a plan says about Artemis with high availability."""
    return checked("artemis-ha", TellingSettings, settings)


@contextmanager
def start(settings: Mapping[str, JsonValue], spots: Sequence[Spot]) -> Iterator[Deployment]:
    """Run three brokers and three ZooKeepers, a pair on each host if there are as many.

    They are given when the primary is active and a backup holds a copy of its journal.
    """
    wanted = check(settings)
    tools = {spot.host.name: EDITION.tools_on(spot.host, wanted.heap_mb) for spot in spots}
    archive = fetched(EDITION.archive)
    agents = jolokia_on(*(spot.host for spot in spots)) if wanted.metrics else None

    def jars(host: Host) -> list[Path]:
        """Every jar of the archive, and what its ZooKeeper lacks."""
        brought = [
            host.copied(archive) / "lib" / jar.name for jar in (archive / "lib").glob("*.jar")
        ]
        return [*brought, *(host.copied(fetched(jar) / jar.file) for jar in JARS)]

    def launch(servers: Servers, ports: tuple[int, ...], places: Sequence[Spot]) -> AmqpBrokers:
        own, keepers = ports[: PORTS_OF_EACH * SIZE], ports[PORTS_OF_EACH * SIZE :]
        group = _Group(places, own, zookeeper.connect_string(places, keepers), agents)
        brokers = [group.member(tools[spot.host.name], index) for index, spot in enumerate(places)]
        java = {spot.host.name: tools[spot.host.name].java for spot in places}
        ensemble = zookeeper.ensemble(java, zookeeper.Edition(jars), places, keepers)
        servers.start(ensemble, wanted.start_timeout_s)
        servers.start(brokers[:1], wanted.start_timeout_s)
        servers.start(brokers[1:], wanted.start_timeout_s, enough=1)
        first = tools[places[0].host.name]
        facts = EDITION.facts(brokers[0], first, f", ZooKeeper {zookeeper.version(archive)}")
        return AmqpBrokers(servers, tuple(broker.name for broker in brokers), facts)

    site = Site("Artemis", spots, SIZE, str if agents is None else agents.redacted)
    with site.launched(PORTS_OF_EACH * SIZE + zookeeper.PORTS, launch) as deployment:
        yield deployment


@dataclass(frozen=True, slots=True)
class _Group:
    """Where the brokers of a group are, and the agents by which they tell of their inside, if any.

    ``ports`` are those for clients, then those for brokers, then those of agents.
    """

    spots: Sequence[Spot]
    ports: Sequence[int]
    zookeeper: str
    agents: Jolokia | None

    def member(self, tools: Tools, index: int) -> Server:
        """One broker of the group."""
        others = [other for other in range(SIZE) if other != index]
        availability = AVAILABILITY.format(
            connectors="".join(
                CONNECTOR.format(index=number, address=self._core(number)) for number in range(SIZE)
            ),
            index=index,
            others="".join(REFERENCE.format(index=other) for other in others),
            role="backup" if index else "primary",
            zookeeper=self.zookeeper,
            failback=NO_FAILBACK if index else "",
        )
        spot = self.spots[index].within(LABELS[index].lower().replace(" ", ""))
        agents, port = self.agents, self.ports[2 * SIZE + index]
        part = Part(
            label=LABELS[index],
            ready=SYNCHRONIZED if index else ACTIVE,
            availability=availability,
            acceptors=ACCEPTOR.format(address=self._core(index)),
            agent=None if agents is None else agents.at(spot, port),
        )
        return broker(tools, spot, self.ports[index], part)

    def _core(self, index: int) -> str:
        """Where a broker is reached by the others."""
        return f"{self.spots[index].host.address}:{self.ports[SIZE + index]}"


SYSTEM = System(
    name="artemis-ha",
    title="Artemis HA",
    topologies=("primary",),
    queues=("replicated",),
    drivers=DRIVERS,
    installed=EDITION.installed,
    check=check,
    start=start,
    tools=(JAVA,),
    telling={"metrics": True},
    labels=lambda _topology, _settings: (*LABELS, *zookeeper.LABELS),
)

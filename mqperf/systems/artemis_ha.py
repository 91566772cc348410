"""Artemis with high availability: a primary, two backups, and ZooKeeper which knows who is active.

One backup copies the primary's journal and takes over from it; the other waits to become the copy.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import JsonValue

from mqperf.hosts import Host
from mqperf.systems import zookeeper
from mqperf.systems.amqp_brokers import RELEASE, AmqpBrokers, BrokerSettings, about
from mqperf.systems.archive import Archive, available, fetched
from mqperf.systems.artemis_broker import ACTIVE, ARCHIVE, OLDEST_JAVA, Part, Tools, broker
from mqperf.systems.artemis_broker import installed as installed_artemis
from mqperf.systems.java import JAVA, installed_java
from mqperf.systems.private import Server, Servers, Site
from mqperf.systems.settings import checked
from mqperf.systems.system import Deployment, System

LABELS = ("Primary", "Backup 1", "Backup 2")
SIZE = len(LABELS)

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
CONNECTOR = '      <connector name="broker{index}">tcp://127.0.0.1:{port}</connector>\n'
REFERENCE = "          <connector-ref>broker{index}</connector-ref>\n"
ACCEPTOR = '      <acceptor name="core">tcp://127.0.0.1:{port}?protocols=CORE</acceptor>\n'
NO_FAILBACK = "          <allow-failback>false</allow-failback>\n"

SYNCHRONIZED = "AMQ221024"
"""Artemis' code for: the backup holds all that the primary has."""


def installed() -> str:
    """The version, when everything is here or can be fetched."""
    version = installed_artemis()
    for jar in JARS:
        available(jar)
    return version


def check(settings: Mapping[str, JsonValue]) -> BrokerSettings:
    """Check what a plan says about Artemis with high availability."""
    return checked("artemis-ha", BrokerSettings, settings)


@contextmanager
def start(settings: Mapping[str, JsonValue], host: Host, folder: Path) -> Iterator[Deployment]:
    """Run three brokers and three ZooKeepers in ``folder``, on loopback.

    They are given when the primary is active and a backup holds a copy of its journal.
    """
    wanted = check(settings)
    tools = Tools(installed_java(OLDEST_JAVA), fetched(ARCHIVE), wanted.heap_mb)
    jars = [*(tools.home / "lib").glob("*.jar"), *(fetched(jar) / jar.file for jar in JARS)]

    def launch(servers: Servers, ports: tuple[int, ...], place: Path) -> AmqpBrokers:
        own, keepers = ports[: 2 * SIZE], ports[2 * SIZE :]
        brokers = [_member(tools, place, index, own, keepers) for index in range(SIZE)]
        ensemble = zookeeper.ensemble(tools.java, zookeeper.Edition(jars), place, keepers)
        servers.start(ensemble, wanted.start_timeout_s)
        servers.start(brokers[:1], wanted.start_timeout_s)
        servers.start(brokers[1:], wanted.start_timeout_s, enough=1)
        facts = about(
            "ActiveMQ Artemis",
            ARCHIVE.version,
            f"Java {tools.java.version}, ZooKeeper {zookeeper.version(tools.home)}",
            wanted.heap_mb,
            brokers[0].files["broker.xml"],
        )
        return AmqpBrokers(servers, own[:SIZE], facts)

    with Site("Artemis", host, folder).launched(2 * SIZE + zookeeper.PORTS, launch) as deployment:
        yield deployment


def _member(
    tools: Tools, place: Path, index: int, ports: Sequence[int], keepers: Sequence[int]
) -> Server:
    """One broker of the group; ``ports`` are the clients' ports, then those of the brokers."""
    amqp, core = ports[:SIZE], ports[SIZE:]
    others = [other for other in range(SIZE) if other != index]
    availability = AVAILABILITY.format(
        connectors="".join(CONNECTOR.format(index=i, port=port) for i, port in enumerate(core)),
        index=index,
        others="".join(REFERENCE.format(index=other) for other in others),
        role="backup" if index else "primary",
        zookeeper=zookeeper.connect_string(keepers),
        failback=NO_FAILBACK if index else "",
    )
    part = Part(
        label=LABELS[index],
        ready=SYNCHRONIZED if index else ACTIVE,
        availability=availability,
        acceptors=ACCEPTOR.format(port=core[index]),
    )
    return broker(tools, place / LABELS[index].lower().replace(" ", ""), amqp[index], part)


SYSTEM = System(
    name="artemis-ha",
    title="Artemis HA",
    topologies=("primary",),
    queues=("replicated",),
    drivers={"simulator": RELEASE},
    installed=installed,
    check=check,
    start=start,
    tools=(JAVA,),
)

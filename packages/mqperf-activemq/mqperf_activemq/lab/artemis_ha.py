"""Artemis with high availability: a primary, two backups, and ZooKeeper to decide who is active.

One backup copies the primary's journal and takes over from it; the other waits to replace that one.
"""

from collections.abc import Sequence
from dataclasses import replace

from mqperf.lab.systems.private import Servers
from mqperf.lab.systems.service import Server
from mqperf_activemq.lab import artemis
from mqperf_activemq.lab.brokers import Group, Kind
from mqperf_activemq.lab.zookeeper import Keepers
from mqperf_java.hosts.archive import Archive
from mqperf_java.lab.servers import Tools

# Artemis ships the jar of ZooKeeper's server, but not these two, which it needs.
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
EDITION = replace(artemis.EDITION, former=(), jars=("lib/*.jar",), beside=JARS)

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
"""Artemis' log code for: the backup is synchronized with the primary."""


def broker(tools: Tools, group: Group, index: int) -> Server:
    """Return one broker of the group; the first is the primary."""
    indices = range(len(group.places))
    return artemis.broker(
        tools,
        group.places[index],
        ready=SYNCHRONIZED if index else artemis.ACTIVE,
        availability=AVAILABILITY.format(
            connectors="".join(
                CONNECTOR.format(index=number, address=group.peer(number)) for number in indices
            ),
            index=index,
            others="".join(REFERENCE.format(index=other) for other in indices if other != index),
            role="backup" if index else "primary",
            zookeeper=group.zookeeper,
            failback=NO_FAILBACK if index else "",
        ),
        acceptors=ACCEPTOR.format(address=group.peer(index)),
    )


def up(servers: Servers, brokers: Sequence[Server], timeout_s: float) -> Sequence[Server]:
    """Start the brokers; return when the primary is active and a backup has copied its journal."""
    servers.start(brokers[:1], timeout_s)
    servers.start(brokers[1:], timeout_s, enough=1)
    return brokers


SYSTEM = Kind(
    "artemis-ha",
    "Artemis HA",
    EDITION,
    broker,
    labels=("Primary", "Backup 1", "Backup 2"),
    keepers=Keepers(),
    up=up,
).system()

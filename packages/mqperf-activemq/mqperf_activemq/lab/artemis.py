"""ActiveMQ Artemis as a system under test: one private broker, which speaks four protocols."""

from dataclasses import replace
from html import escape

from mqperf.lab.systems.service import Server
from mqperf_activemq.lab.brokers import Edition, Kind
from mqperf_java.hosts.archive import Archive
from mqperf_java.lab.logging import log4j2
from mqperf_java.lab.servers import ServerPlace, Tools, opened, server

CONFIG = "broker.xml"
ARCHIVE = Archive(
    group="org.apache.activemq",
    artifact="apache-artemis",
    version="2.56.0",
    sha512="441ad38aa1b0526e5709edf43542039f016669d24134056613e4cbafdf6b101e"
    "5351f79f7ee190b43fc8031f6ec596a5fd075490dcee4d3eb3a88d8ed2cfc01b",
)
EDITION = Edition(
    product="ActiveMQ Artemis",
    archive=ARCHIVE,
    oldest_java=17,
    config=CONFIG,
    former=(
        replace(
            ARCHIVE,
            version="2.33.0",
            sha512="984df20fb1bc2d9254fbf9694411f3297937064d2de3d76c987baffa855d115e"
            "23406a97023262d93b2ef4a218f839f7eeffc493fa904a7c566d48ddcc0e5d86",
        ),
    ),
)

ACTIVE = "AMQ221007"
"""Artemis' log code for: server is now active."""

# Unless it is switched off, the audit log has several lines for every message.
LOGGING = log4j2(
    {
        "org.apache.activemq.audit": "OFF",
        "org.apache.zookeeper": "WARN",
        "org.apache.curator": "WARN",
    }
)

BOOTSTRAP = """\
<broker xmlns="http://activemq.apache.org/schema">
  <jaas-security domain="mqperf"/>
  <server configuration="{broker}"/>
</broker>
"""

OPTIONS = "protocols=AMQP,CORE,OPENWIRE,STOMP;tcpNoDelay=true;supportAdvisory=false"
"""Options of the acceptor for clients; OpenWire's advisory messages are off."""

MANAGEMENT = """\
<management-context xmlns="http://activemq.apache.org/schema"/>
"""

# Queues are created on first use, give each message to one consumer, and go with the last one.
BROKER = """\
<configuration xmlns="urn:activemq">
  <core xmlns="urn:activemq:core">
    <name>mqperf</name>
    <security-enabled>false</security-enabled>
    <jmx-management-enabled>{jmx}</jmx-management-enabled>
    <journal-type>NIO</journal-type>
    <journal-pool-files>10</journal-pool-files>
    <paging-directory>{data}/paging</paging-directory>
    <bindings-directory>{data}/bindings</bindings-directory>
    <journal-directory>{data}/journal</journal-directory>
    <large-messages-directory>{data}/large-messages</large-messages-directory>
{availability}    <acceptors>
      <acceptor name="clients">tcp://{address}:{port}?{options}</acceptor>
{acceptors}    </acceptors>
    <address-settings>
      <address-setting match="#">
        <default-queue-routing-type>ANYCAST</default-queue-routing-type>
        <default-address-routing-type>ANYCAST</default-address-routing-type>
        <auto-delete-queues-delay>10000</auto-delete-queues-delay>
        <auto-delete-queues-message-count>-1</auto-delete-queues-message-count>
        <auto-delete-addresses-delay>10000</auto-delete-addresses-delay>
      </address-setting>
    </address-settings>
  </core>
</configuration>
"""


def broker(
    tools: Tools,
    place: ServerPlace,
    *,
    ready: str = ACTIVE,
    availability: str = "",
    acceptors: str = "",
) -> Server:
    """Return a broker at a place, alone, or as one of a group by the given parts of its XML.

    ``ready`` is the text in its log that says that it serves.
    """
    folder = place.host_folder.folder
    return server(
        tools,
        place,
        (
            *opened("jdk.internal.misc"),
            *("-classpath", str(tools.home / "lib" / "artemis-boot.jar")),
            *("org.apache.activemq.artemis.boot.Artemis", "run"),
        ),
        properties={
            "artemis.home": tools.home,
            "artemis.instance": folder,
            "artemis.instance.etc": folder,
            "data.dir": folder / "data",
            "log4j2.disableJmx": "true",
        },
        logging=LOGGING,
        ready=(ready,),
        files={
            CONFIG: BROKER.format(
                jmx="false" if place.agent is None else "true",
                data=escape(str(folder / "data"), quote=False),
                address=place.host_folder.host.address,
                port=place.port,
                options=OPTIONS,
                availability=availability,
                acceptors=acceptors,
            ),
            "bootstrap.xml": BOOTSTRAP.format(broker=(folder / CONFIG).as_uri()),
            "management.xml": MANAGEMENT,
        },
    )


KIND = Kind(
    "artemis", "Artemis", EDITION, lambda tools, group, index: broker(tools, group.places[index])
)
SYSTEM = replace(KIND.system(), broker=KIND.beside)

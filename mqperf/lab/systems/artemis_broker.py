"""An Artemis broker as specified: where it comes from, its files and its command."""

from dataclasses import dataclass
from xml.sax.saxutils import escape

from mqperf.hosts import Spot
from mqperf.lab.systems.java import ENVIRONMENT
from mqperf.lab.systems.java.archive import Archive
from mqperf.lab.systems.java.brokers import Edition, Tools
from mqperf.lab.systems.java.jolokia import Agent
from mqperf.lab.systems.java.logging import log4j2
from mqperf.lab.systems.service import Server
from mqperf.lab.systems.system import ONLY_BROKER

EDITION = Edition(
    product="ActiveMQ Artemis",
    archive=Archive(
        group="org.apache.activemq",
        artifact="apache-artemis",
        version="2.56.0",
        sha512="441ad38aa1b0526e5709edf43542039f016669d24134056613e4cbafdf6b101e"
        "5351f79f7ee190b43fc8031f6ec596a5fd075490dcee4d3eb3a88d8ed2cfc01b",
    ),
    oldest_java=17,
    config="broker.xml",
)

ACTIVE = "AMQ221007"
"""Artemis' code for: server is now active."""

# Unless it is switched off, the audit writes several lines for every message.
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

MANAGEMENT = """\
<management-context xmlns="http://activemq.apache.org/schema"/>
"""

# Queues are made on first use, each for one reader of every message, and go with their last one.
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
      <acceptor name="amqp">tcp://{address}:{port}?protocols=AMQP;tcpNoDelay=true</acceptor>
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


@dataclass(frozen=True, slots=True)
class Part:
    """What a broker is in a group: its label, what its log says when ready, and parts of its XML.

    The defaults are those of a broker that is alone.  With an ``agent`` it tells of its inside.
    """

    label: str = ONLY_BROKER
    ready: str = ACTIVE
    availability: str = ""
    acceptors: str = ""
    agent: Agent | None = None


def broker(tools: Tools, spot: Spot, port: int, part: Part) -> Server:
    """A broker in a folder of a host, which clients reach at ``port``."""
    folder = spot.folder
    properties = {
        "artemis.home": tools.home,
        "artemis.instance": folder,
        "artemis.instance.etc": folder,
        "data.dir": folder / "data",
        "log4j2.disableJmx": "true",
        **LOGGING.properties(folder),
    }
    agent = part.agent
    settings = BROKER.format(
        jmx="false" if agent is None else "true",
        data=escape(str(folder / "data")),
        address=spot.host.address,
        port=port,
        availability=part.availability,
        acceptors=part.acceptors,
    )
    return Server(
        label=part.label,
        name=f"{spot.host.address}:{port}",
        spot=spot,
        argv=(
            *tools.java.command(folder, tools.heap_mb, properties),
            *(() if agent is None else (agent.option,)),
            *("--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED"),
            *("-classpath", str(tools.home / "lib" / "artemis-boot.jar")),
            *("org.apache.activemq.artemis.boot.Artemis", "run"),
        ),
        env=ENVIRONMENT,
        ready=(part.ready,),
        taken=("Address already in use",),
        files={
            "broker.xml": settings,
            "bootstrap.xml": BOOTSTRAP.format(broker=(folder / "broker.xml").as_uri()),
            "management.xml": MANAGEMENT,
            **LOGGING.files,
            **({} if agent is None else agent.files),
        },
        inside=None if agent is None else agent.inside(part.label),
    )

"""ActiveMQ with replicated LevelDB and ZooKeeper: historic, as the test plan of 2016 names it.

ActiveMQ dropped this store.  On a current Java it needs a newer ZooKeeper client than it ships, and
some of Java's modules opened.  Its brokers often die while they start (``listener is null``), but
join when started again: they are restarted, and the record of every run says so.
"""

from collections.abc import Sequence
from dataclasses import replace

from mqperf.lab.systems.evidence import text
from mqperf.lab.systems.private import Servers
from mqperf.lab.systems.service import Server
from mqperf_activemq.lab import activemq
from mqperf_activemq.lab.brokers import Edition, Group, Kind, at_once
from mqperf_activemq.lab.zookeeper import Keepers
from mqperf_java.hosts.archive import Archive
from mqperf_java.lab.logging import PATTERN, Logging
from mqperf_java.lab.servers import Tools, opened, server

ZOOKEEPER = "3.5.10"
JARS = (
    Archive(
        group="org.apache.zookeeper",
        artifact="zookeeper",
        version=ZOOKEEPER,
        sha512="56dc974b5108912961bef3dcdd168aaa802fe923490c0d846dd9643cba7c0e18"
        "91c79fcf416eda48fd50d9c22f7ae22b6338fd2b039574682247f20d5681fec3",
        extension="jar",
        classifier="",
    ),
    Archive(
        group="org.apache.zookeeper",
        artifact="zookeeper-jute",
        version=ZOOKEEPER,
        sha512="f28b7f26c6486357c3796509a77179d182410d220ec6ffe3642564ad128709e0"
        "cb056825d2e8173d404d39adb7886a190220570e0b8792603603a0b307223ca0",
        extension="jar",
        classifier="",
    ),
)
EDITION = Edition(
    product="ActiveMQ, replicated LevelDB (historic)",
    archive=Archive(
        group="org.apache.activemq",
        artifact="apache-activemq",
        version="5.15.11",
        sha512="a3ca1a839ddb87eaf7468db1f130a1fe79be6423acc6b059ac2998d3d359b8cc"
        "369a45b62322bf29bb031e702113e4d1ac44ee43457a28e7bf22687aa107a37f",
    ),
    oldest_java=activemq.EDITION.oldest_java,
    config=activemq.CONFIG,
    jars=("bin/activemq.jar", "lib/*.jar", "lib/optional/*.jar"),
    without="zookeeper-3.4.14.jar",
    beside=JARS,
)
RESTARTS = 5
PATIENCE_S = 15
"""Time limit for a broker to find the others; none was ever observed to find them later."""

STORE = (
    '<replicatedLevelDB directory="data/leveldb" replicas="3" hostname="{address}"'
    ' bind="tcp://{address}:{port}" zkAddress="{zookeeper}" zkPath="/mqperf"{password}'
    ' sync="quorum_mem"/>'
)
LOG4J = "\n".join(
    [
        "log4j.rootLogger = INFO, console",
        "log4j.appender.console = org.apache.log4j.ConsoleAppender",
        "log4j.appender.console.layout = org.apache.log4j.PatternLayout",
        f"log4j.appender.console.layout.ConversionPattern = {PATTERN}",
        "",
    ]
)
"""Configuration of Log4j 1, which servers of that age use."""

KEEPER_LOGGING = Logging("log4j.properties", "log4j.configuration", LOG4J)
LOGGING = replace(KEEPER_LOGGING, text=f"{LOG4J}log4j.logger.org.apache.zookeeper = WARN\n")
OPENED = (*activemq.OPENED, "sun.nio.ch", "jdk.internal.ref")
MASTER, SLAVE = "Promoted to master", "INFO  Attached"


def broker(tools: Tools, group: Group, index: int) -> Server:
    """Return one broker of the group."""
    place = group.places[index]
    folder = place.host_folder.folder
    store = STORE.format(
        address=place.host_folder.host.address,
        port=group.ports[index],
        zookeeper=group.zookeeper,
        password=f' zkPassword="{group.password}"' if group.password else "",
    )
    started = server(
        tools,
        place,
        (
            *opened(*OPENED),
            *("--add-exports", "java.base/jdk.internal.ref=ALL-UNNAMED"),
            *tools.class_path,
            *("org.apache.activemq.console.Main", "start"),
            f"xbean:{(folder / activemq.CONFIG).as_uri()}",
        ),
        properties={"zookeeper.sasl.client": "false", **activemq.properties(folder, folder)},
        logging=LOGGING,
        ready=(") started", SLAVE),
        files={activemq.CONFIG: activemq.configuration(place, store, group.password)},
    )
    return replace(started, restarts=RESTARTS, patience_s=PATIENCE_S)


def up(servers: Servers, brokers: Sequence[Server], timeout_s: float) -> Sequence[Server]:
    """Start the brokers; return when one is master and the others have copies of its store.

    The brokers elect the master, and only the master listens.
    """
    at_once(servers, brokers, timeout_s)
    return sorted(brokers, key=lambda candidate: MASTER not in text(candidate.host, candidate.log))


SYSTEM = Kind(
    "activemq-leveldb",
    "ActiveMQ LevelDB",
    EDITION,
    broker,
    labels=("Broker 1", "Broker 2", "Broker 3"),
    keepers=Keepers(("LEADER ELECTION TOOK",), KEEPER_LOGGING),
    tells=False,
    knows_users=True,
    up=up,
).system()

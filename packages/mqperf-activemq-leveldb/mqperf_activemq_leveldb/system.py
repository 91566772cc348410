"""ActiveMQ with replicated LevelDB and ZooKeeper: historic, as the test plan of 2016 names it.

ActiveMQ gave this store up.  On a current Java it needs a newer ZooKeeper client than it brings,
and a few of Java's doors opened.  Its brokers often die while they start (``listener is null``);
started again they join, so this is done, and written into the record of every run.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from pydantic import JsonValue

from mqperf.hosts import Host, Spot
from mqperf.lab.systems import activemq
from mqperf.lab.systems.amqp_brokers import DRIVERS, AmqpBrokers, BrokerSettings
from mqperf.lab.systems.evidence import text
from mqperf.lab.systems.java import ENVIRONMENT, JAVA, zookeeper
from mqperf.lab.systems.java.archive import Archive, fetched
from mqperf.lab.systems.java.brokers import Edition, Tools
from mqperf.lab.systems.java.logging import PATTERN, Logging
from mqperf.lab.systems.private import Servers, Site
from mqperf.lab.systems.service import Server
from mqperf.lab.systems.settings import checked
from mqperf.lab.systems.system import Deployment, System

BROUGHT_ZOOKEEPER = "zookeeper-3.4.14.jar"
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
    config="activemq.xml",
    beside=JARS,
)
LABELS = ("Broker 1", "Broker 2", "Broker 3")
SIZE = len(LABELS)
RESTARTS = 5
PATIENCE_S = 15
"""A broker that has not found the others by then has not been seen to find them at all."""

STORE = (
    '<replicatedLevelDB directory="data/leveldb" replicas="3" hostname="{address}"'
    ' bind="tcp://{address}:{port}" zkAddress="{zookeeper}" zkPath="/mqperf" sync="quorum_mem"/>'
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
"""For Log4j 1, which servers of that age bring."""

KEEPER_LOGGING = Logging("log4j.properties", "log4j.configuration", LOG4J)
LOGGING = replace(KEEPER_LOGGING, text=f"{LOG4J}log4j.logger.org.apache.zookeeper = WARN\n")
OPENED = (*activemq.OPENED, "sun.nio.ch", "jdk.internal.ref")
MASTER, SLAVE = "Promoted to master", "INFO  Attached"


def check(settings: Mapping[str, JsonValue]) -> BrokerSettings:
    """Check what a plan says about ActiveMQ with replicated LevelDB."""
    return checked("activemq-leveldb", BrokerSettings, settings)


@contextmanager
def start(settings: Mapping[str, JsonValue], spots: Sequence[Spot]) -> Iterator[Deployment]:
    """Run three brokers and three ZooKeepers, a pair on each host if there are as many.

    They are given when one broker is master, and the others hold copies of its store.
    """
    wanted = check(settings)
    tools = {spot.host.name: EDITION.tools_on(spot.host, wanted.heap_mb) for spot in spots}
    jars = {spot.host.name: _jars(spot.host) for spot in spots}
    edition = zookeeper.Edition(
        lambda host: jars[host.name], ("LEADER ELECTION TOOK",), KEEPER_LOGGING
    )

    def launch(servers: Servers, ports: tuple[int, ...], places: Sequence[Spot]) -> AmqpBrokers:
        own, keepers = ports[: 2 * SIZE], ports[2 * SIZE :]
        group = _Group(tools, jars, own, zookeeper.connect_string(places, keepers))
        brokers = [group.member(index, spot) for index, spot in enumerate(places)]
        java = {name: known.java for name, known in tools.items()}
        ensemble = zookeeper.ensemble(java, edition, places, keepers)
        servers.start(ensemble, wanted.start_timeout_s)
        servers.start(brokers, wanted.start_timeout_s)
        facts = EDITION.facts(
            brokers[0], tools[places[0].host.name], f", ZooKeeper {ZOOKEEPER}"
        ) | {"incidents": [*servers.incidents]}
        # Only the master listens; who that is, the brokers agreed upon.
        first = sorted(brokers, key=lambda one: MASTER not in text(one.host, one.log))
        return AmqpBrokers(servers, tuple(one.name for one in first), facts)

    site = Site("ActiveMQ", spots, SIZE)
    with site.launched(2 * SIZE + zookeeper.PORTS, launch) as deployment:
        yield deployment


def _jars(host: Host) -> list[Path]:
    """Every jar of the archive but its ZooKeeper, and a newer one."""
    archive = fetched(EDITION.archive)
    home = host.copied(archive)
    brought = (jar for folder in ("lib", "lib/optional") for jar in archive.glob(f"{folder}/*.jar"))
    return [
        home / "bin" / "activemq.jar",
        *(home / jar.relative_to(archive) for jar in brought if jar.name != BROUGHT_ZOOKEEPER),
        *(host.copied(fetched(jar) / jar.file) for jar in JARS),
    ]


@dataclass(frozen=True, slots=True)
class _Group:
    """What its brokers are started with, tools and jars by host.

    ``ports`` are the clients' ports, then those of the brokers.
    """

    tools: Mapping[str, Tools]
    jars: Mapping[str, Sequence[Path]]
    ports: Sequence[int]
    zookeeper: str

    def member(self, index: int, place: Spot) -> Server:
        """One broker of the group."""
        spot, port = place.within(f"broker{index + 1}"), self.ports[index]
        address = spot.host.address
        tools, jars, folder = self.tools[spot.host.name], self.jars[spot.host.name], spot.folder
        store = STORE.format(
            address=address, port=self.ports[SIZE + index], zookeeper=self.zookeeper
        )
        places = {"home": folder, "base": folder, "conf": folder, "data": folder / "data"}
        properties = {
            "zookeeper.sasl.client": "false",
            **{f"activemq.{name}": place for name, place in places.items()},
            **LOGGING.properties(folder),
        }
        opened = (("--add-opens", f"java.base/{name}=ALL-UNNAMED") for name in OPENED)
        return Server(
            label=LABELS[index],
            name=f"{address}:{port}",
            spot=spot,
            argv=(
                *tools.java.command(folder, tools.heap_mb, properties),
                *chain(*opened),
                *("--add-exports", "java.base/jdk.internal.ref=ALL-UNNAMED"),
                *("-classpath", ":".join(map(str, jars))),
                *("org.apache.activemq.console.Main", "start"),
                f"xbean:{(folder / 'activemq.xml').as_uri()}",
            ),
            env=ENVIRONMENT,
            ready=(") started", SLAVE),
            taken=("Address already in use",),
            files={"activemq.xml": activemq.configuration(spot, port, store), **LOGGING.files},
            restarts=RESTARTS,
            patience_s=PATIENCE_S,
        )


SYSTEM = System(
    name="activemq-leveldb",
    title="ActiveMQ LevelDB",
    topologies=("primary",),
    queues=("replicated",),
    drivers=DRIVERS,
    installed=EDITION.installed,
    check=check,
    start=start,
    tools=(JAVA,),
    labels=lambda _topology, _settings: (*LABELS, *zookeeper.LABELS),
)

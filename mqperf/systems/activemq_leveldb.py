"""ActiveMQ with replicated LevelDB and ZooKeeper: historic, as the test plan of 2016 names it.

ActiveMQ gave this store up.  On a current Java it needs a newer ZooKeeper client than it brings,
and a few of Java's doors opened.  Its brokers often die while they start (``listener is null``);
started again they join, so this is done, and written into the record of every run.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from mqperf.hosts import Host
from mqperf.systems import activemq, zookeeper
from mqperf.systems.amqp_brokers import RELEASE, AmqpBrokers, BrokerSettings, about
from mqperf.systems.archive import Archive, available, fetched
from mqperf.systems.evidence import text
from mqperf.systems.java import ENVIRONMENT, JAVA, Java, installed_java
from mqperf.systems.java_logging import log4j1
from mqperf.systems.private import Server, Servers, Site
from mqperf.systems.settings import checked
from mqperf.systems.system import Deployment, System

ARCHIVE = Archive(
    group="org.apache.activemq",
    artifact="apache-activemq",
    version="5.15.11",
    sha512="a3ca1a839ddb87eaf7468db1f130a1fe79be6423acc6b059ac2998d3d359b8cc"
    "369a45b62322bf29bb031e702113e4d1ac44ee43457a28e7bf22687aa107a37f",
)
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
SIZE = 3
RESTARTS = 5
PATIENCE_S = 15
"""A broker that has not found the others by then has not been seen to find them at all."""

STORE = (
    '<replicatedLevelDB directory="data/leveldb" replicas="3" hostname="127.0.0.1"'
    ' bind="tcp://127.0.0.1:{port}" zkAddress="{zookeeper}" zkPath="/mqperf" sync="quorum_mem"/>'
)
LOGGING = log4j1({"org.apache.zookeeper": "WARN"})
OPENED = (*activemq.OPENED, "sun.nio.ch", "jdk.internal.ref")
MASTER, SLAVE = "Promoted to master", "INFO  Attached"


@dataclass(frozen=True, slots=True)
class Tools:
    """What every broker is started with: Java, all jars, and its heap."""

    java: Java
    jars: tuple[Path, ...]
    heap_mb: int


def installed() -> str:
    """The version, when everything is here or can be fetched."""
    java = installed_java(activemq.OLDEST_JAVA)
    for archive in (ARCHIVE, *JARS):
        available(archive)
    return f"{ARCHIVE.version}, on Java {java.version}"


def check(settings: Mapping[str, JsonValue]) -> BrokerSettings:
    """Check what a plan says about ActiveMQ with replicated LevelDB."""
    return checked("activemq-leveldb", BrokerSettings, settings)


@contextmanager
def start(settings: Mapping[str, JsonValue], host: Host, folder: Path) -> Iterator[Deployment]:
    """Run three brokers and three ZooKeepers in ``folder``, on loopback.

    They are given when one broker is master, and the others hold copies of its store.
    """
    wanted = check(settings)
    tools = Tools(installed_java(activemq.OLDEST_JAVA), tuple(_jars()), wanted.heap_mb)
    edition = zookeeper.Edition(tools.jars, ("LEADER ELECTION TOOK",), log4j1({}))

    def launch(servers: Servers, ports: tuple[int, ...], place: Path) -> AmqpBrokers:
        own, keepers = ports[: 2 * SIZE], ports[2 * SIZE :]
        brokers = [_broker(tools, place, index, own, keepers) for index in range(SIZE)]
        ensemble = zookeeper.ensemble(tools.java, edition, place, keepers)
        servers.start(ensemble, wanted.start_timeout_s)
        servers.start(brokers, wanted.start_timeout_s)
        facts = about(
            "ActiveMQ, replicated LevelDB (historic)",
            ARCHIVE.version,
            f"Java {tools.java.version}, ZooKeeper {ZOOKEEPER}",
            wanted.heap_mb,
            brokers[0].files["activemq.xml"],
        ) | {"incidents": [*servers.incidents]}
        # Only the master listens; who that is, the brokers agreed upon.
        first = sorted(range(SIZE), key=lambda index: MASTER not in text(host, brokers[index].log))
        return AmqpBrokers(servers, tuple(own[index] for index in first), facts)

    with Site("ActiveMQ", host, folder).launched(2 * SIZE + zookeeper.PORTS, launch) as deployment:
        yield deployment


def _jars() -> Iterator[Path]:
    """Every jar of the archive but its ZooKeeper, and a newer one."""
    home = fetched(ARCHIVE)
    yield home / "bin" / "activemq.jar"
    for folder in ("lib", "lib/optional"):
        yield from (jar for jar in home.glob(f"{folder}/*.jar") if jar.name != BROUGHT_ZOOKEEPER)
    yield from (fetched(jar) / jar.file for jar in JARS)


def _broker(
    tools: Tools, place: Path, index: int, ports: Sequence[int], keepers: Sequence[int]
) -> Server:
    """One broker; ``ports`` are the clients' ports, then those of the brokers."""
    folder, port = place / f"broker{index + 1}", ports[index]
    store = STORE.format(port=ports[SIZE + index], zookeeper=zookeeper.connect_string(keepers))
    places = {"home": folder, "base": folder, "conf": folder, "data": folder / "data"}
    properties = {
        "zookeeper.sasl.client": "false",
        **{f"activemq.{name}": place for name, place in places.items()},
        **LOGGING.properties(folder),
    }
    opened = [word for name in OPENED for word in ("--add-opens", f"java.base/{name}=ALL-UNNAMED")]
    return Server(
        label=f"Broker {index + 1}",
        name=f"127.0.0.1:{port}",
        folder=folder,
        argv=(
            *tools.java.command(folder, tools.heap_mb, properties),
            *opened,
            *("--add-exports", "java.base/jdk.internal.ref=ALL-UNNAMED"),
            *("-classpath", ":".join(map(str, tools.jars))),
            *("org.apache.activemq.console.Main", "start"),
            f"xbean:{(folder / 'activemq.xml').as_uri()}",
        ),
        env=ENVIRONMENT,
        ready=(") started", SLAVE),
        taken=("Address already in use",),
        files={"activemq.xml": activemq.configuration(folder, port, store), **LOGGING.files},
        restarts=RESTARTS,
        patience_s=PATIENCE_S,
    )


SYSTEM = System(
    name="activemq-leveldb",
    title="ActiveMQ LevelDB",
    topologies=("primary",),
    queues=("replicated",),
    drivers={"simulator": RELEASE},
    installed=installed,
    check=check,
    start=start,
    tools=(JAVA,),
)

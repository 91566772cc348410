"""ActiveMQ Artemis as a system under test: one private broker, spoken to in AMQP 1.0."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pydantic import JsonValue

from mqperf.hosts import Host
from mqperf.systems.amqp_brokers import RELEASE, AmqpBrokers, BrokerSettings, about
from mqperf.systems.archive import fetched
from mqperf.systems.artemis_broker import ARCHIVE, OLDEST_JAVA, Part, Tools, broker, installed
from mqperf.systems.java import JAVA, installed_java
from mqperf.systems.private import Servers, Site
from mqperf.systems.settings import checked
from mqperf.systems.system import Deployment, System


def check(settings: Mapping[str, JsonValue]) -> BrokerSettings:
    """Check what a plan says about Artemis."""
    return checked("artemis", BrokerSettings, settings)


@contextmanager
def start(settings: Mapping[str, JsonValue], host: Host, folder: Path) -> Iterator[Deployment]:
    """Run one broker in ``folder``, on loopback; fetched first if it is not in the cache."""
    wanted = check(settings)
    tools = Tools(installed_java(OLDEST_JAVA), fetched(ARCHIVE), wanted.heap_mb)

    def launch(servers: Servers, ports: tuple[int, ...], place: Path) -> AmqpBrokers:
        server = broker(tools, place / "broker", ports[0], Part())
        servers.start([server], wanted.start_timeout_s)
        facts = about(
            "ActiveMQ Artemis",
            ARCHIVE.version,
            f"Java {tools.java.version}",
            wanted.heap_mb,
            server.files["broker.xml"],
        )
        return AmqpBrokers(servers, ports, facts)

    with Site("Artemis", host, folder).launched(1, launch) as deployment:
        yield deployment


SYSTEM = System(
    name="artemis",
    title="Artemis",
    topologies=("single",),
    queues=("classic",),
    drivers={"simulator": RELEASE},
    installed=installed,
    check=check,
    start=start,
    tools=(JAVA,),
)

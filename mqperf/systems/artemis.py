"""ActiveMQ Artemis as a system under test: one private broker, spoken to in AMQP 1.0."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from pydantic import JsonValue

from mqperf.hosts import Spot
from mqperf.systems.amqp_brokers import RELEASE, AmqpBrokers, BrokerSettings, about
from mqperf.systems.artemis_broker import ARCHIVE, Part, broker, installed, tools_on
from mqperf.systems.java import JAVA
from mqperf.systems.private import Servers, Site
from mqperf.systems.settings import checked
from mqperf.systems.system import Deployment, System


def check(settings: Mapping[str, JsonValue]) -> BrokerSettings:
    """Check what a plan says about Artemis."""
    return checked("artemis", BrokerSettings, settings)


@contextmanager
def start(settings: Mapping[str, JsonValue], spots: Sequence[Spot]) -> Iterator[Deployment]:
    """Run one broker on the first host; fetched first if it is not in the cache."""
    wanted = check(settings)
    tools = tools_on(spots[0].host, wanted.heap_mb)

    def launch(servers: Servers, ports: tuple[int, ...], places: Sequence[Spot]) -> AmqpBrokers:
        server = broker(tools, places[0].within("broker"), ports[0], Part())
        servers.start([server], wanted.start_timeout_s)
        facts = about(
            "ActiveMQ Artemis",
            ARCHIVE.version,
            f"Java {tools.java.version}",
            wanted.heap_mb,
            server.files["broker.xml"],
        )
        return AmqpBrokers(servers, (server.name,), facts)

    with Site("Artemis", spots).launched(1, launch) as deployment:
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

"""ActiveMQ Artemis as a system under test: one private broker, spoken to in AMQP 1.0."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from pydantic import JsonValue

from mqperf.hosts import Spot
from mqperf.lab.systems.amqp_brokers import RELEASE, AmqpBrokers, TellingSettings, about
from mqperf.lab.systems.artemis_broker import ARCHIVE, Part, broker, installed, tools_on
from mqperf.lab.systems.java import JAVA
from mqperf.lab.systems.java.jolokia import jolokia_on
from mqperf.lab.systems.private import Servers, Site
from mqperf.lab.systems.settings import checked
from mqperf.lab.systems.system import ONLY_BROKER, Deployment, System


def check(settings: Mapping[str, JsonValue]) -> TellingSettings:
    """Check what a plan says about Artemis."""
    return checked("artemis", TellingSettings, settings)


@contextmanager
def start(settings: Mapping[str, JsonValue], spots: Sequence[Spot]) -> Iterator[Deployment]:
    """Run one broker on the first host; fetched first if it is not in the cache."""
    wanted, host = check(settings), spots[0].host
    tools = tools_on(host, wanted.heap_mb)
    agents = jolokia_on(host) if wanted.metrics else None

    def launch(servers: Servers, ports: tuple[int, ...], places: Sequence[Spot]) -> AmqpBrokers:
        spot = places[0].within("broker")
        part = Part(agent=None if agents is None else agents.at(spot, ports[1]))
        server = broker(tools, spot, ports[0], part)
        servers.start([server], wanted.start_timeout_s)
        facts = about(
            "ActiveMQ Artemis",
            ARCHIVE.version,
            f"Java {tools.java.version}",
            wanted.heap_mb,
            server.files["broker.xml"],
        )
        return AmqpBrokers(servers, (server.name,), facts)

    redact = str if agents is None else agents.redacted
    with Site("Artemis", spots, redact=redact).launched(2, launch) as deployment:
        yield deployment


SYSTEM = System(
    name="artemis",
    title="Artemis",
    topologies=("single",),
    queues=("classic",),
    drivers={"simulator": RELEASE, "amqp-1.0": "amqp-1.0"},
    installed=installed,
    check=check,
    start=start,
    tools=(JAVA,),
    telling={"metrics": True},
    labels=lambda _topology, _settings: (ONLY_BROKER,),
)

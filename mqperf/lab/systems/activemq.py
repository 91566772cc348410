"""ActiveMQ (classic) as a system under test: one private broker, spoken to in AMQP 1.0."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

from pydantic import JsonValue

from mqperf.hosts import Host, Spot
from mqperf.lab.systems.amqp_brokers import RELEASE, AmqpBrokers, TellingSettings, about
from mqperf.lab.systems.java import ENVIRONMENT, JAVA, Java, installed_java
from mqperf.lab.systems.java.archive import Archive, available, fetched
from mqperf.lab.systems.java.jolokia import Agent, jolokia_on
from mqperf.lab.systems.java.logging import log4j2
from mqperf.lab.systems.private import Servers, Site
from mqperf.lab.systems.service import Server
from mqperf.lab.systems.settings import checked
from mqperf.lab.systems.system import ONLY_BROKER, Deployment, System

ARCHIVE = Archive(
    group="org.apache.activemq",
    artifact="apache-activemq",
    version="5.18.3",
    sha512="61abc4a08b9e1db6a5b1062bb1c839171e93bcb571817fd81744dd19874d7138"
    "40bba99c7979d45bcb832d13ea01986b76fb11720f5ec63a0283e7d1934a33cc",
)
OLDEST_JAVA = 11
OPENED = ("java.lang", "java.util", "java.util.concurrent", "java.net", "java.io", "java.nio")

LOGGING = log4j2({})

# Without tcpNoDelay a CALL waits some 40 ms for the acknowledgement of its request.
BROKER = """\
<beans xmlns="http://www.springframework.org/schema/beans"
       xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
       xsi:schemaLocation="http://www.springframework.org/schema/beans
         http://www.springframework.org/schema/beans/spring-beans.xsd
         http://activemq.apache.org/schema/core
         http://activemq.apache.org/schema/core/activemq-core.xsd">
  <broker xmlns="http://activemq.apache.org/schema/core" brokerName="mqperf" useJmx="{jmx}"
          schedulerSupport="false" schedulePeriodForDestinationPurge="10000" dataDirectory={data}>
    <managementContext><managementContext createConnector="false"/></managementContext>
    <destinationPolicy><policyMap><policyEntries>
      <policyEntry queue="&gt;" gcInactiveDestinations="true" inactiveTimeoutBeforeGC="60000"/>
    </policyEntries></policyMap></destinationPolicy>
    <persistenceAdapter>{store}</persistenceAdapter>
    <systemUsage><systemUsage>
      <memoryUsage><memoryUsage percentOfJvmHeap="70"/></memoryUsage>
      <storeUsage><storeUsage limit="1 gb"/></storeUsage>
      <tempUsage><tempUsage limit="1 gb"/></tempUsage>
    </systemUsage></systemUsage>
    <transportConnectors>
      <transportConnector name="amqp" uri={uri}/>
    </transportConnectors>
  </broker>
</beans>
"""


KAHADB = "<kahaDB/>"
"""The usual store, in the broker's own folder."""


def installed(host: Host) -> str:
    """The version, when the host has Java, and the broker is here or can be fetched."""
    java = installed_java(OLDEST_JAVA, host)
    available(ARCHIVE)
    return f"{ARCHIVE.version}, on Java {java.version}"


def check(settings: Mapping[str, JsonValue]) -> TellingSettings:
    """Check what a plan says about ActiveMQ."""
    return checked("activemq", TellingSettings, settings)


@contextmanager
def start(settings: Mapping[str, JsonValue], spots: Sequence[Spot]) -> Iterator[Deployment]:
    """Run one broker on the first host; fetched first if it is not in the cache."""
    wanted, host = check(settings), spots[0].host
    java, home = installed_java(OLDEST_JAVA, host), host.copied(fetched(ARCHIVE))
    tools = _Tools(java, home, wanted.heap_mb)
    agents = jolokia_on(host) if wanted.metrics else None

    def launch(servers: Servers, ports: tuple[int, ...], places: Sequence[Spot]) -> AmqpBrokers:
        spot = places[0].within("broker")
        agent = None if agents is None else agents.at(spot, ports[1])
        broker = _broker(tools, spot, ports[0], agent)
        servers.start([broker], wanted.start_timeout_s)
        facts = about(
            "ActiveMQ",
            ARCHIVE.version,
            f"Java {java.version}",
            wanted.heap_mb,
            broker.files["activemq.xml"],
        )
        return AmqpBrokers(servers, (broker.name,), facts)

    redact = str if agents is None else agents.redacted
    with Site("ActiveMQ", spots, redact=redact).launched(2, launch) as deployment:
        yield deployment


def configuration(spot: Spot, port: int, store: str, *, jmx: bool = False) -> str:
    """Write the activemq.xml of a broker with that store; with ``jmx`` it has management beans."""
    uri = (
        f"amqp://{spot.host.address}:{port}?maximumConnections=1000"
        "&wireFormat.maxFrameSize=104857600&transport.tcpNoDelay=true"
    )
    return BROKER.format(
        jmx="true" if jmx else "false",
        data=quoteattr(str(spot.folder / "data")),
        store=store,
        uri=quoteattr(uri),
    )


@dataclass(frozen=True, slots=True)
class _Tools:
    """What a broker is started with: Java, the unpacked archive, and its heap."""

    java: Java
    home: Path
    heap_mb: int


def _broker(tools: _Tools, spot: Spot, port: int, agent: Agent | None) -> Server:
    folder, home = spot.folder, tools.home
    places = {"home": home, "base": folder, "conf": folder, "data": folder / "data"}
    properties = {f"activemq.{name}": place for name, place in places.items()}
    opened = [word for name in OPENED for word in ("--add-opens", f"java.base/{name}=ALL-UNNAMED")]
    return Server(
        label=ONLY_BROKER,
        name=f"{spot.host.address}:{port}",
        spot=spot,
        argv=(
            *tools.java.command(folder, tools.heap_mb, properties | LOGGING.properties(folder)),
            *opened,
            *(() if agent is None else (agent.option,)),
            *("-jar", str(home / "bin" / "activemq.jar")),
            *("start", f"xbean:{(folder / 'activemq.xml').as_uri()}"),
        ),
        env=ENVIRONMENT,
        ready=(") started",),
        taken=("Address already in use",),
        files={
            "activemq.xml": configuration(spot, port, KAHADB, jmx=agent is not None),
            **LOGGING.files,
            **({} if agent is None else agent.files),
        },
        inside=None if agent is None else agent.inside(ONLY_BROKER),
    )


SYSTEM = System(
    name="activemq",
    title="ActiveMQ",
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

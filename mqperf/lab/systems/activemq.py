"""ActiveMQ (classic) as a system under test: one private broker, spoken to in AMQP 1.0."""

from xml.sax.saxutils import quoteattr

from mqperf.hosts import Spot
from mqperf.lab.systems.java import ENVIRONMENT
from mqperf.lab.systems.java.archive import Archive
from mqperf.lab.systems.java.brokers import Edition, Tools, alone
from mqperf.lab.systems.java.jolokia import Agent
from mqperf.lab.systems.java.logging import log4j2
from mqperf.lab.systems.service import Server
from mqperf.lab.systems.system import ONLY_BROKER

EDITION = Edition(
    product="ActiveMQ",
    archive=Archive(
        group="org.apache.activemq",
        artifact="apache-activemq",
        version="5.18.3",
        sha512="61abc4a08b9e1db6a5b1062bb1c839171e93bcb571817fd81744dd19874d7138"
        "40bba99c7979d45bcb832d13ea01986b76fb11720f5ec63a0283e7d1934a33cc",
    ),
    oldest_java=11,
    config="activemq.xml",
)
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


def broker(tools: Tools, spot: Spot, port: int, agent: Agent | None) -> Server:
    """A broker in a folder of a host, which clients reach at ``port``."""
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


SYSTEM = alone("activemq", "ActiveMQ", EDITION, broker)

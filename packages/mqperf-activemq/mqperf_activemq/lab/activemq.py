"""ActiveMQ (classic) as a system under test: one private broker, with AMQP 1.0."""

from pathlib import Path

from mqperf.lab.systems.service import Server
from mqperf_activemq.lab.brokers import USER, Edition, Group, Kind
from mqperf_java.hosts.archive import Archive
from mqperf_java.lab.logging import log4j2
from mqperf_java.lab.servers import ServerPlace, Tools, opened, server

CONFIG = "activemq.xml"
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
    config=CONFIG,
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
    <persistenceAdapter>{store}</persistenceAdapter>{plugins}
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


PLUGINS = """
    <plugins><simpleAuthenticationPlugin><users>
      <authenticationUser username="{user}" password="{password}" groups="users,admins"/>
    </users></simpleAuthenticationPlugin></plugins>"""
"""Plugin that lets this user connect only."""

KAHADB = "<kahaDB/>"
"""The default store, in the broker's own folder."""


def configuration(place: ServerPlace, store: str, password: str = "") -> str:
    """Return the activemq.xml of a broker with this store; with an agent, it has management beans.

    With a password only ``USER`` may connect.
    """
    from xml.sax.saxutils import quoteattr  # slow to load: it imports an HTTP client

    uri = (
        f"amqp://{place.host_folder.host.address}:{place.port}?maximumConnections=1000"
        "&wireFormat.maxFrameSize=104857600&transport.tcpNoDelay=true"
    )
    return BROKER.format(
        jmx="false" if place.agent is None else "true",
        data=quoteattr(str(place.host_folder.folder / "data")),
        store=store,
        plugins=PLUGINS.format(user=USER, password=password) if password else "",
        uri=quoteattr(uri),
    )


def properties(folder: Path, home: Path) -> dict[str, object]:
    """Return the Java properties with a broker's folders; ``home`` has the unpacked archive."""
    places = {"home": home, "base": folder, "conf": folder, "data": folder / "data"}
    return {f"activemq.{name}": place for name, place in places.items()}


def broker(tools: Tools, group: Group, index: int) -> Server:
    """Return the broker of a group, its only one."""
    place = group.places[index]
    home, folder = tools.home, place.host_folder.folder
    return server(
        tools,
        place,
        (
            *opened(*OPENED),
            *("-jar", str(home / "bin" / "activemq.jar")),
            *("start", f"xbean:{(folder / CONFIG).as_uri()}"),
        ),
        properties=properties(folder, home),
        logging=LOGGING,
        ready=(") started",),
        files={CONFIG: configuration(place, KAHADB, group.password)},
    )


SYSTEM = Kind("activemq", "ActiveMQ", EDITION, broker, knows_users=True).system()

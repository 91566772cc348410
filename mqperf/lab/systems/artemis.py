"""ActiveMQ Artemis as a system under test: one private broker, spoken to in AMQP 1.0."""

from dataclasses import replace

from mqperf.hosts import Spot
from mqperf.lab.systems.amqp_brokers import BrokerSettings
from mqperf.lab.systems.artemis_broker import EDITION, Part, broker
from mqperf.lab.systems.java.brokers import alone
from mqperf.lab.systems.service import Server


def beside(label: str, spot: Spot, port: int) -> Server:
    """One among the nodes of another system, with the heap that it has by default."""
    tools = EDITION.tools_on(spot.host, BrokerSettings().heap_mb)
    return broker(tools, spot, port, Part(label=label))


SYSTEM = replace(
    alone(
        "artemis",
        "Artemis",
        EDITION,
        lambda tools, spot, port, agent: broker(tools, spot, port, Part(agent=agent)),
    ),
    broker=beside,
)

"""ActiveMQ Artemis as a system under test: one private broker, spoken to in AMQP 1.0."""

from mqperf.lab.systems.artemis_broker import EDITION, Part, broker
from mqperf.lab.systems.java.brokers import alone

SYSTEM = alone(
    "artemis",
    "Artemis",
    EDITION,
    lambda tools, spot, port, agent: broker(tools, spot, port, Part(agent=agent)),
)

"""The release of oslo.messaging that speaks to Kafka, and the options of its driver."""

from pathlib import Path

from mqperf.lab.load.launcher import Endpoint
from mqperf.lab.load.oslo.releases import RABBITMQ, Release, Sections
from mqperf.plan import Case

PROTOCOL = "kafka"


def options(_case: Case, _endpoint: Endpoint, _address: str) -> Sections:
    """Return no options beside the defaults; the consumer group is in the transport URL."""
    return {"oslo_messaging_kafka": {}}


RELEASE = Release(
    name="kafka",
    version=RABBITMQ.version,
    protocol=PROTOCOL,
    scheme="kafka",
    options=options,
    lock=Path(__file__).with_name("locks") / "kafka.txt",
    sdist_sha256=RABBITMQ.sdist_sha256,
    repairs=("mqperf_kafka.onhost.repairs:flush_at_end",),
    libraries=("confluent-kafka",),
    why="current, as for RabbitMQ; its driver for Kafka has notifications alone",
)

"""What plans may say of Kafka: where messages are kept."""

from mqperf.plan.topologies import Queues

TOPIC = Queues(
    "topic",
    ", topics",
    " (topic)",
    "-topic",
    "Messages stay in topics, which are logs on disk, with a copy on every node.",
    noun="topics",
)

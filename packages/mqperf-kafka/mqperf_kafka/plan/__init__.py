"""The kind of queue of Kafka in plans: topics."""

from mqperf.plan.topologies import Queues

TOPIC = Queues(
    "topic",
    ", topics",
    " (topic)",
    "-topic",
    "Messages stay in topics, which are logs on disk, with a copy on every node.",
    noun="topics",
)

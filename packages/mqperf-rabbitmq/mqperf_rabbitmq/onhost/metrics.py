"""Metrics of a RabbitMQ node by its plugin for Prometheus, as lines of text."""

import re
from collections.abc import Iterator

from mqperf.onhost.probes.inside.http import Server

PROTOCOL = "prometheus"

OF_NODE = "/metrics"
OF_QUEUES = "/metrics/detailed?family=queue_coarse_metrics"
"""Paths of the node's metrics, summed over queues, and of every single queue."""

MOST_QUEUES = 100
"""Most queues of a metric that are kept; if there are more, of those that are not empty."""

NODE_METRICS = (
    *("connections", "channels", "consumers", "queues"),
    *("queue_messages", "queue_messages_ready", "queue_messages_unacked", "queue_messages_ram"),
    *("queue_process_memory_bytes", "process_resident_memory_bytes", "disk_space_available_bytes"),
    *("erlang_gc_runs_total", "erlang_gc_reclaimed_bytes_total", "erlang_scheduler_run_queue"),
    *("alarms_memory_used_watermark", "alarms_free_disk_space_watermark"),
)
QUEUE_METRICS = ("queue_messages_ready", "queue_messages_unacked")

_NODE = re.compile(rf"^rabbitmq_(?:{'|'.join(NODE_METRICS)})(?:\{{[^}}\n]*\}})? .*$", re.MULTILINE)
_QUEUES = [
    re.compile(rf"^rabbitmq_detailed_{name}\{{.*\}} .*$", re.MULTILINE) for name in QUEUE_METRICS
]


class NodeClient:
    """A client of a node's metrics."""

    def __init__(self, address: str, user: str, password: str) -> None:
        self.server = Server(address, user, password)

    def state(self) -> str:
        """Return the current metrics; raise ``Unanswered``."""
        of_node = self.server.answer(OF_NODE).decode()
        of_queues = self.server.answer(OF_QUEUES).decode()
        return "\n".join([*_NODE.findall(of_node), *_lines(of_queues)])


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of the queues that are kept."""
    for metric in _QUEUES:
        lines: list[str] = metric.findall(text)
        if len(lines) > MOST_QUEUES:
            lines = [line for line in lines if not line.endswith(" 0")][:MOST_QUEUES]
        yield from lines

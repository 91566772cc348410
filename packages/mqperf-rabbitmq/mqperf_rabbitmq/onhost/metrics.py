"""What a node of RabbitMQ tells by its plugin for Prometheus: lines of metrics, as text."""

import re
from collections.abc import Iterator

from mqperf.onhost.probes.inside.http import Server

PROTOCOL = "prometheus"

OF_NODE = "/metrics"
OF_QUEUES = "/metrics/detailed?family=queue_coarse_metrics"
"""The sums of the whole node, and every queue by itself."""

MOST_QUEUES = 100
"""Of more queues only those that are not empty stay, and no more of them."""

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
    """A node that is asked."""

    def __init__(self, address: str, user: str, password: str) -> None:
        self.server = Server(address, user, password)

    def state(self) -> str:
        """What it tells now; raises ``Unanswered``."""
        of_node = self.server.answer(OF_NODE).decode()
        of_queues = self.server.answer(OF_QUEUES).decode()
        return "\n".join([*_NODE.findall(of_node), *_lines(of_queues)])


def _lines(text: str) -> Iterator[str]:
    """The lines of the queues that stay."""
    for metric in _QUEUES:
        lines: list[str] = metric.findall(text)
        if len(lines) > MOST_QUEUES:
            lines = [line for line in lines if not line.endswith(" 0")][:MOST_QUEUES]
        yield from lines

"""Figures of a node of RabbitMQ, from the lines of its metrics."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from mqperf.study.probes.node_metrics.reader import (
    ALL,
    BYTES,
    MESSAGES,
    NODE,
    NUMBER,
    Figure,
    InsideReader,
)
from mqperf_rabbitmq.onhost.metrics import PROTOCOL

NODE_FIGURES: Mapping[str, tuple[str, str, str, str]] = {
    "connections": (NODE, NODE, "connections", NUMBER),
    "channels": (NODE, NODE, "channels", NUMBER),
    "consumers": (NODE, NODE, "consumers", NUMBER),
    "queues": (NODE, NODE, "queues", NUMBER),
    "queue_messages": ("queues", ALL, "messages", MESSAGES),
    "queue_messages_ready": ("queues", ALL, "messages_ready", MESSAGES),
    "queue_messages_unacked": ("queues", ALL, "messages_unacked", MESSAGES),
    "queue_messages_ram": ("queues", ALL, "messages_in_memory", MESSAGES),
    "queue_process_memory_bytes": ("queues", ALL, "memory", BYTES),
    "process_resident_memory_bytes": ("memory", NODE, "used", BYTES),
    "disk_space_available_bytes": (NODE, NODE, "disk_free", BYTES),
    "erlang_gc_runs_total": ("collector", ALL, "collections", NUMBER),
    "erlang_gc_reclaimed_bytes_total": ("collector", ALL, "reclaimed", BYTES),
    "erlang_scheduler_run_queue": (NODE, NODE, "run_queue", NUMBER),
    "alarms_memory_used_watermark": (NODE, NODE, "memory_alarm", NUMBER),
    "alarms_free_disk_space_watermark": (NODE, NODE, "disk_alarm", NUMBER),
}
"""Metric -> kind, object, quantity and unit of the figure."""

QUEUE_FIGURES: Mapping[str, str] = {
    "detailed_queue_messages_ready": "messages_ready",
    "detailed_queue_messages_unacked": "messages_unacked",
}

LINE = re.compile(r"rabbitmq_(\w+)(?:\{(.*)\})? (\S+)")
QUEUE = re.compile(r'queue="((?:[^"\\]|\\.)*)"')


def figures(lines: str) -> Iterator[Figure]:
    """Yield a node's figures; raise ``ValueError`` for a line that is not a metric.

    Queues with the same name in several virtual hosts count as one.
    """
    queues: dict[tuple[str, str], float] = defaultdict(float)
    for line in lines.splitlines():
        metric = LINE.fullmatch(line)
        if metric is None:
            raise ValueError(f"no line of a metric: {line[:100]!r}")
        name, labels, value = metric[1], metric[2], float(metric[3])
        if name in NODE_FIGURES:
            kind, thing, quantity, unit = NODE_FIGURES[name]
            yield Figure(kind, thing, quantity, value, unit)
        elif name in QUEUE_FIGURES and (queue := QUEUE.search(labels or "")):
            queues[queue[1], QUEUE_FIGURES[name]] += value
    for (queue_name, quantity), count in queues.items():
        yield Figure("queue", queue_name, quantity, count, MESSAGES)


READER = InsideReader(PROTOCOL, figures)

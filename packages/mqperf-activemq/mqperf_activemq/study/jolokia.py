"""Figures of a broker in a Java virtual machine, from its management beans."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from mqperf.study.probes.node_metrics.reader import (
    ALL,
    BYTES,
    MESSAGES,
    NODE,
    NUMBER,
    SECONDS,
    Figure,
    InsideReader,
)
from mqperf_activemq.onhost.jolokia import PROTOCOL

MEMORY = {"HeapMemoryUsage": "heap", "NonHeapMemoryUsage": "non-heap"}
USAGE = ("used", "committed", "max")
UNLIMITED = -1

QUEUE: Mapping[str, tuple[str, str]] = {
    "MessageCount": ("messages", MESSAGES),
    "QueueSize": ("messages", MESSAGES),
    "DeliveringCount": ("messages_unacked", MESSAGES),
    "InFlightCount": ("messages_unacked", MESSAGES),
    "ConsumerCount": ("consumers", NUMBER),
    "MemoryUsageByteCount": ("memory", BYTES),
}
"""Attribute of a queue, of either broker -> quantity and unit."""

OF_ALL = {"messages": MESSAGES, "messages_unacked": MESSAGES}
"""Quantities that are summed over all queues."""

NAME = re.compile(r"(?:^|[:,])(?:queue|destinationName|name)=\"?([^,\"]+)\"?")
"""The name of a queue, pool or collector within the name of its bean."""


def figures(values: Mapping[str, Any]) -> Iterator[Figure]:
    """Yield a broker's figures; raise ``KeyError`` or ``ValueError`` for invalid values."""
    for attribute, area in MEMORY.items():
        yield from _usage("memory", area, values["memory"][attribute])
    for bean, attributes in values["pools"].items():
        yield from _usage("pool", _name(bean), attributes["Usage"])
    for bean, attributes in values["collectors"].items():
        name = _name(bean)
        yield Figure("collector", name, "collections", attributes["CollectionCount"], NUMBER)
        paused_s = attributes["CollectionTime"] / 1000
        yield Figure("collector", name, "paused", paused_s, SECONDS)
    yield Figure(NODE, NODE, "threads", values["threads"]["ThreadCount"], NUMBER)
    yield from _queue_figures({**values.get("artemis", {}), **values.get("activemq", {})})


def _usage(kind: str, name: str, usage: Mapping[str, Any] | None) -> Iterator[Figure]:
    """Yield the used, committed and maximal bytes; a pool that no longer exists has no usage."""
    for quantity in USAGE if usage else ():
        if usage is not None and (value := usage[quantity]) != UNLIMITED:
            yield Figure(kind, name, quantity, float(value), BYTES)


def _queue_figures(queues: Mapping[str, Mapping[str, Any]]) -> Iterator[Figure]:
    """Yield the figures of each queue, and of all queues together."""
    summed: Counter[str] = Counter()
    for bean, attributes in queues.items():
        for attribute, value in attributes.items():
            quantity, unit = QUEUE[attribute]
            if quantity in OF_ALL:
                summed[quantity] += value
            yield Figure("queue", _name(bean), quantity, float(value), unit)
    for quantity, unit in OF_ALL.items():
        yield Figure("queues", ALL, quantity, float(summed[quantity]), unit)


def _name(bean: str) -> str:
    match = NAME.search(bean)
    return match[1] if match else bean


READER = InsideReader(PROTOCOL, figures)

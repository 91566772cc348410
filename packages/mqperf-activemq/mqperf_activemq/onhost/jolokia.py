"""Metrics of a broker in a Java virtual machine by Jolokia: values of its management beans."""

import json
from collections.abc import Mapping
from typing import Any

from mqperf.onhost.probes.inside.http import Server, Unanswered

PROTOCOL = "jolokia"
PATH = "/jolokia/"

MACHINE: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "memory": ("java.lang:type=Memory", ("HeapMemoryUsage", "NonHeapMemoryUsage")),
    "pools": ("java.lang:type=MemoryPool,name=*", ("Usage",)),
    "collectors": (
        "java.lang:type=GarbageCollector,name=*",
        ("CollectionCount", "CollectionTime"),
    ),
    "threads": ("java.lang:type=Threading", ("ThreadCount",)),
}
"""Management beans of every Java virtual machine, and their attributes."""

ARTEMIS_QUEUES = (
    "org.apache.activemq.artemis:broker=*,component=addresses,address=*,"
    "subcomponent=queues,routing-type=*,queue=*"
)
ACTIVEMQ_QUEUES = (
    "org.apache.activemq:type=Broker,brokerName=*,destinationType=Queue,destinationName=*"
)
QUEUES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "artemis": (ARTEMIS_QUEUES, ("MessageCount", "DeliveringCount", "ConsumerCount")),
    "activemq": (
        ACTIVEMQ_QUEUES,
        ("QueueSize", "InFlightCount", "ConsumerCount", "MemoryUsageByteCount"),
    ),
}
"""Beans of the queues of either broker; the other broker has none by that name."""

MISSING = 404
"""Status of a reply: there is no such bean now."""


class NodeClient:
    """A client of a broker's agent."""

    def __init__(self, address: str, user: str, password: str) -> None:
        self.server = Server(address, user, password)
        self.beans = {**MACHINE, **QUEUES}
        self.request = json.dumps(
            [
                {"type": "read", "mbean": bean, "attribute": list(names)}
                for bean, names in self.beans.values()
            ]
        ).encode()

    def state(self) -> dict[str, Any]:
        """Return the current values, by the names of ``beans``; raise ``Unanswered``."""
        try:
            replies = json.loads(self.server.answer(PATH, self.request))
        except ValueError as error:
            raise Unanswered(f"no JSON: {error}") from None
        values: dict[str, Any] = {}
        for name, reply in zip(self.beans, replies, strict=True):
            if reply.get("status") == MISSING:
                continue
            if "value" not in reply:
                raise Unanswered(f"{name}: {reply.get('status')} {reply.get('error')}")
            values[name] = reply["value"]
        return values

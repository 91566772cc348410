"""What a broker in a Java virtual machine tells by Jolokia: values of its management beans."""

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
"""What every such machine has: beans, and their attributes."""

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
"""The queues of either broker: one that it is not has no such beans."""

MISSING = 404
"""There is no such bean now."""


class NodeClient:
    """A broker that is asked."""

    def __init__(self, address: str, user: str, password: str) -> None:
        self.server = Server(address, user, password)
        self.wanted = {**MACHINE, **QUEUES}
        self.question = json.dumps(
            [
                {"type": "read", "mbean": bean, "attribute": list(names)}
                for bean, names in self.wanted.values()
            ]
        ).encode()

    def state(self) -> dict[str, Any]:
        """What it tells now, by what was asked; raises ``Unanswered``."""
        try:
            replies = json.loads(self.server.answer(PATH, self.question))
        except ValueError as error:
            raise Unanswered(f"no JSON: {error}") from None
        values: dict[str, Any] = {}
        for name, reply in zip(self.wanted, replies, strict=True):
            if reply.get("status") == MISSING:
                continue
            if "value" not in reply:
                raise Unanswered(f"{name}: {reply.get('status')} {reply.get('error')}")
            values[name] = reply["value"]
        return values

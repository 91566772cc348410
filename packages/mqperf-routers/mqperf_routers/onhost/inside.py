"""What an AMQP router tells by its management: entities of some kinds, as rows of attributes."""

from collections.abc import Mapping
from typing import Any

from mqperf.onhost.probes.inside.http import TIMEOUT_S, Unanswered
from mqperf_amqp_1_0.onhost.connection import Connection
from mqperf_numbered.onhost.broker import Broker, Lost, Refused
from mqperf_routers.onhost.management import Management

PROTOCOL = "amqp-management"

ENTITIES: Mapping[str, tuple[str, ...]] = {
    "router": (
        *("mode", "memoryUsage", "addrCount", "linkCount", "nodeCount", "connectionCount"),
        *("presettledDeliveries", "droppedPresettledDeliveries", "acceptedDeliveries"),
        *("rejectedDeliveries", "releasedDeliveries", "modifiedDeliveries"),
        *("deliveriesDelayed1Sec", "deliveriesDelayed10Sec", "deliveriesStuck"),
        *("deliveriesIngress", "deliveriesEgress", "deliveriesTransit"),
    ),
    "router.link": (
        *("identity", "linkType", "linkDir", "owningAddr", "undeliveredCount", "unsettledCount"),
        *("deliveryCount", "droppedPresettledCount", "creditAvailable"),
    ),
    "router.address": (
        *("key", "subscriberCount"),
        *("deliveriesIngress", "deliveriesEgress", "deliveriesTransit"),
    ),
    "router.node": ("id", "cost"),
    "connection": ("role", "dir"),
    "allocator": ("typeName", "typeSize", "totalAllocFromHeap", "totalFreeToHeap"),
}
"""Kinds of entities, and which of their attributes are asked for."""

PREFIX = "org.apache.qpid.dispatch."

ALONE = "standalone"
"""The mode of a router without neighbours, which knows of no others."""


def _used(links: Mapping[str, Any]) -> dict[str, Any]:
    """The links that carry, or have carried, anything: between routers most never do."""
    names = links["names"]
    sent, waiting = names.index("deliveryCount"), names.index("undeliveredCount")
    return {"names": names, "rows": [row for row in links["rows"] if row[sent] or row[waiting]]}


class NodeClient:
    """A router that is asked, over a connection that is opened again when it was lost."""

    def __init__(self, address: str, user: str, password: str) -> None:
        self.broker = Broker((address,), user, password, "")
        self.management: Management | None = None

    def state(self) -> dict[str, Any]:
        """What it tells now, by kind of entity; raises ``Unanswered``."""
        try:
            if self.management is None:
                connection = Connection(self.broker)
                connection.socket.settimeout(TIMEOUT_S)
                self.management = Management(connection)
            return self._entities(self.management)
        except (Lost, Refused, ValueError, KeyError) as error:
            self._forget()
            raise Unanswered(str(error)) from None

    def _entities(self, management: Management) -> dict[str, Any]:
        entities: dict[str, Any] = {}
        for kind, names in ENTITIES.items():
            if kind == "router.node" and ALONE in entities["router"]["rows"][0]:
                continue
            entities[kind] = management.entities(PREFIX + kind, names)._asdict()
        return {**entities, "router.link": _used(entities["router.link"])}

    def _forget(self) -> None:
        if self.management is not None:
            self.management.connection.socket.close()
            self.management = None

"""Metrics of an AMQP router by its management: entities of some kinds, as rows of attributes."""

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
"""Kind of entity -> the attributes that are queried."""

PREFIX = "org.apache.qpid.dispatch."

ALONE = "standalone"
"""The mode of a router without neighbours, which has no entities ``router.node``."""


def _used_links(links: Mapping[str, Any]) -> dict[str, Any]:
    """Return the links that have, or had, messages: between routers most never do."""
    names = links["names"]
    sent, waiting = names.index("deliveryCount"), names.index("undeliveredCount")
    return {"names": names, "rows": [row for row in links["rows"] if row[sent] or row[waiting]]}


class NodeClient:
    """A client of a router's management, which reconnects when its connection was lost."""

    def __init__(self, address: str, user: str, password: str) -> None:
        self.broker = Broker((address,), user, password, "")
        self.management: Management | None = None

    def state(self) -> dict[str, Any]:
        """Return the current entities by kind; raise ``Unanswered``."""
        try:
            if self.management is None:
                connection = Connection(self.broker)
                connection.socket.settimeout(TIMEOUT_S)
                self.management = Management(connection)
            return self._entities(self.management)
        except (Lost, Refused, ValueError, KeyError) as error:
            self._disconnect()
            raise Unanswered(str(error)) from None

    def _entities(self, management: Management) -> dict[str, Any]:
        entities: dict[str, Any] = {}
        for kind, names in ENTITIES.items():
            if kind == "router.node" and ALONE in entities["router"]["rows"][0]:
                continue
            entities[kind] = management.entities(PREFIX + kind, names)._asdict()
        return {**entities, "router.link": _used_links(entities["router.link"])}

    def _disconnect(self) -> None:
        if self.management is not None:
            self.management.connection.socket.close()
            self.management = None

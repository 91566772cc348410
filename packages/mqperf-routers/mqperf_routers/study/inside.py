"""Figures of an AMQP router, from the entities of its management."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mqperf.study.probes.node_metrics.reader import (
    ALL,
    BYTES,
    MESSAGES,
    NODE,
    NUMBER,
    Figure,
    InsideReader,
)
from mqperf_routers.onhost.inside import PROTOCOL

ROUTER: Mapping[str, tuple[str, str]] = {
    "addrCount": ("addresses", NUMBER),
    "linkCount": ("links", NUMBER),
    "nodeCount": ("routers", NUMBER),
    "connectionCount": ("connections", NUMBER),
    "presettledDeliveries": ("presettled", MESSAGES),
    "droppedPresettledDeliveries": ("presettled_dropped", MESSAGES),
    "acceptedDeliveries": ("accepted", MESSAGES),
    "rejectedDeliveries": ("rejected", MESSAGES),
    "releasedDeliveries": ("released", MESSAGES),
    "modifiedDeliveries": ("modified", MESSAGES),
    "deliveriesDelayed1Sec": ("delayed_1s", MESSAGES),
    "deliveriesDelayed10Sec": ("delayed_10s", MESSAGES),
    "deliveriesStuck": ("stuck", MESSAGES),
    "deliveriesIngress": ("received", MESSAGES),
    "deliveriesEgress": ("sent", MESSAGES),
    "deliveriesTransit": ("in_transit", MESSAGES),
}
LINK: Mapping[str, tuple[str, str]] = {
    "undeliveredCount": ("undelivered", MESSAGES),
    "unsettledCount": ("unsettled", MESSAGES),
    "deliveryCount": ("deliveries", MESSAGES),
    "droppedPresettledCount": ("presettled_dropped", MESSAGES),
    "creditAvailable": ("credit", MESSAGES),
}
ADDRESS: Mapping[str, tuple[str, str]] = {
    "subscriberCount": ("consumers", NUMBER),
    "deliveriesIngress": ("received", MESSAGES),
    "deliveriesEgress": ("sent", MESSAGES),
    "deliveriesTransit": ("in_transit", MESSAGES),
}
"""Attribute of an entity -> quantity and unit of the figure."""

MOBILE = re.compile(r"M\d(?!\$|_\$)(.+)")
"""Keys of addresses that clients use, the group is the address; others are the router's own."""

Row = Mapping[str, Any]


def figures(entities: Mapping[str, Any]) -> Iterator[Figure]:
    """Yield a router's figures; raise ``KeyError`` or ``ValueError`` for invalid entities."""
    rows = {kind: _rows(table) for kind, table in entities.items()}
    [router] = rows["router"]
    yield from _entity_figures(NODE, NODE, router, ROUTER)
    if router.get("memoryUsage") is not None:
        yield Figure("memory", NODE, "size", float(router["memoryUsage"]), BYTES)
    pooled = sum(_pooled_bytes(pool) for pool in rows["allocator"])
    yield Figure("memory", "pools", "used", float(pooled), BYTES)
    yield from _link_figures(rows["router.link"])
    for address in rows["router.address"]:
        if match := MOBILE.fullmatch(str(address["key"])):
            yield from _entity_figures("address", match[1], address, ADDRESS)
    for other in rows.get("router.node", ()):
        yield Figure("route", str(other["id"]), "cost", float(other["cost"] or 0), NUMBER)
    roles = Counter(str(connection["role"]) for connection in rows["connection"])
    for role, count in roles.items():
        yield Figure("connections", role, "connections", float(count), NUMBER)


def _rows(table: Mapping[str, Any]) -> list[Row]:
    """Return a mapping of attributes for each entity."""
    names: Sequence[str] = table["names"]
    return [dict(zip(names, row, strict=True)) for row in table["rows"]]


def _entity_figures(
    kind: str, thing: str, row: Row, quantities: Mapping[str, tuple[str, str]]
) -> Iterator[Figure]:
    """Yield the figures of an entity; an attribute that is absent or null has none."""
    for name, (quantity, unit) in quantities.items():
        if row.get(name) is not None:
            yield Figure(kind, thing, quantity, float(row[name]), unit)


def _link_figures(links: Sequence[Row]) -> Iterator[Figure]:
    """Yield figures of client and inter-router links; for all together, undelivered messages."""
    undelivered = 0
    for link in links:
        if link["linkType"] not in {"endpoint", "inter-router"}:
            continue
        undelivered += link.get("undeliveredCount") or 0
        owner = str(link["owningAddr"] or "")
        address = match[1] if (match := MOBILE.fullmatch(owner)) else owner
        name = f"{link['linkDir']} {link['identity']} {address}".strip()
        yield from _entity_figures("link", name, link, LINK)
    yield Figure("links", ALL, "undelivered", float(undelivered), MESSAGES)


def _pooled_bytes(pool: Row) -> int:
    """Return the bytes that a pool took from the heap and did not give back."""
    return int(pool["typeSize"] * (pool["totalAllocFromHeap"] - pool["totalFreeToHeap"]))


READER = InsideReader(PROTOCOL, figures)

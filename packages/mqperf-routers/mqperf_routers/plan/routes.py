"""The shortest ways through a network, by the costs of its edges, as interior routers find them."""

from collections.abc import Mapping
from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mqperf_routers.plan.network import Network


def costs(beside: Mapping[str, Mapping[str, int]], origin: str) -> Mapping[str, int]:
    """By node that can be reached from the origin, the cost of the cheapest way; after Dijkstra."""
    cheapest: dict[str, int] = {}
    waiting = [(0, origin)]
    while waiting:
        cost, node = heappop(waiting)
        if node not in cheapest:
            cheapest[node] = cost
            for other, more in beside[node].items():
                heappush(waiting, (cost + more, other))
    return cheapest


def next_hops(network: "Network", origin: str) -> Mapping[str, tuple[int, frozenset[str]]]:
    """By interior router that a message can go to: the cost, and the neighbours it may go by.

    There are several where ways cost the same; for other routers there is nothing.
    """
    beside = network.neighbours()
    if origin not in beside:
        return {}
    from_there = {name: costs(beside, name) for name in beside[origin]}
    return {
        node: (
            cost,
            frozenset(
                name
                for name, first in beside[origin].items()
                if first + from_there[name][node] == cost
            ),
        )
        for node, cost in costs(beside, origin).items()
        if node != origin
    }


def ends(network: "Network") -> tuple[int, int]:
    """Two routers that are farthest from each other, the first such pair, by their positions."""
    beside = network.neighbours(interior=False)
    places = {node.id: number for number, node in enumerate(network.nodes)}
    routers = [node.id for node in network.routers]
    far = (0, places[routers[0]], places[routers[0]])
    for first in routers:
        away = costs(beside, first)
        for second in routers:
            if away[second] > far[0] and places[first] < places[second]:
                far = away[second], places[first], places[second]
    return far[1], far[2]

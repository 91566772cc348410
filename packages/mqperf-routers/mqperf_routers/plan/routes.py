"""The shortest paths through a network by the costs of its edges, as interior routers find them."""

from collections.abc import Mapping
from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mqperf_routers.plan.network import Network


def costs(neighbours: Mapping[str, Mapping[str, int]], origin: str) -> Mapping[str, int]:
    """Return the cost of the cheapest path to each node that the origin reaches (Dijkstra)."""
    cheapest: dict[str, int] = {}
    queue = [(0, origin)]
    while queue:
        cost, node = heappop(queue)
        if node not in cheapest:
            cheapest[node] = cost
            for other, edge_cost in neighbours[node].items():
                heappush(queue, (cost + edge_cost, other))
    return cheapest


def next_hops(network: "Network", origin: str) -> Mapping[str, tuple[int, frozenset[str]]]:
    """Return the cost, and the possible next hops, by interior router that the origin reaches.

    There are several hops where paths cost the same; an origin that is not interior has no entry.
    """
    neighbours = network.neighbours()
    if origin not in neighbours:
        return {}
    onward = {name: costs(neighbours, name) for name in neighbours[origin]}
    return {
        node: (
            cost,
            frozenset(
                name
                for name, first_cost in neighbours[origin].items()
                if first_cost + onward[name][node] == cost
            ),
        )
        for node, cost in costs(neighbours, origin).items()
        if node != origin
    }


def ends(network: "Network") -> tuple[int, int]:
    """Return the positions of the two routers that are farthest apart, of the first such pair."""
    neighbours = network.neighbours(interior=False)
    positions = {node.id: number for number, node in enumerate(network.nodes)}
    routers = [node.id for node in network.routers]
    farthest = (0, positions[routers[0]], positions[routers[0]])
    for first in routers:
        distance = costs(neighbours, first)
        for second in routers:
            if distance[second] > farthest[0] and positions[first] < positions[second]:
                farthest = distance[second], positions[first], positions[second]
    return farthest[1], farthest[2]

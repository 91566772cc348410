"""Forms of networks: line, ring, star and others, of any size."""

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from mqperf_routers.plan.network import (
    BROKER,
    INTERIOR,
    STANDALONE,
    Edge,
    Network,
    NetworkError,
    NetworkNode,
)

Pairs = Iterable[tuple[int, int]]
"""Edges, as the positions of their two routers."""

MOST = 100
"""Largest number of routers of a form."""

COSTS = (1, 3)
"""The lowest and the highest cost of an edge of a random network."""


@dataclass(frozen=True, slots=True)
class Form:
    """A form: its name in plans, and the edges of a network that has it.

    ``numbers`` is a pattern with a group for each number in the name; ``size`` and ``edges`` take
    these numbers. ``words`` describes the network with its size, within a sentence.
    """

    name: str
    shown: str
    numbers: str
    least: int
    words: str
    size: Callable[..., int]
    edges: Callable[..., Iterable[tuple[int, int, int]]]

    def network(self, text: str, ids: Sequence[str] | None = None) -> Network:
        """Return the network with the numbers in its name; its routers have these ids, or R1 on."""
        numbers = [int(number) for number in self._match(text)]
        size = self.size(*numbers)
        if not self.least <= size <= MOST:
            raise NetworkError(
                f"{self.name}-{text}: {size:,} routers, expected {self.least} to {MOST}"
            )
        if ids is not None and len(ids) != size:
            raise NetworkError(f"{self.name}-{text} has {size} routers, and {len(ids)} are named")
        names = ids or [f"R{number + 1}" for number in range(size)]
        role = INTERIOR if size > 1 else STANDALONE
        return Network(
            tuple(NetworkNode(name, role) for name in names),
            tuple(Edge(names[a], names[b], cost) for a, b, cost in self.edges(*numbers)),
        )

    def title(self, size: object) -> str:
        """Return the description of the network with a capital, as a title."""
        words = self.words.format(size=size)
        return words[0].upper() + words[1:]

    def _match(self, text: str) -> Sequence[str]:
        match = re.fullmatch(self.numbers, text)
        if match is None:
            raise NetworkError(f"{self.name}-{text}: expected {self.shown}")
        return match.groups()


def with_brokers(network: Network, ids: Sequence[str]) -> Network:
    """Return the network with brokers added, which are joined with its routers in turn."""
    routers = [node.id for node in network.nodes]
    edges = [Edge(routers[number % len(routers)], name) for number, name in enumerate(ids)]
    brokers = tuple(NetworkNode(name, BROKER) for name in ids)
    return Network((*network.nodes, *brokers), (*network.edges, *edges))


def alternating(routers: Sequence[str], brokers: Sequence[str], *, ring: bool = False) -> Network:
    """Return routers in a line or ring, with brokers instead of the first edges between them.

    Each broker is joined with the two routers of its edge, which have no edge themselves.
    """
    pairs = [*pairwise(routers)]
    if ring and len(routers) > 2:
        pairs.append((routers[-1], routers[0]))
    if len(brokers) > len(pairs):
        raise NetworkError(
            f"{len(brokers)} brokers between {len(routers)} routers: there is room for {len(pairs)}"
        )
    edges: list[Edge] = []
    for number, (first, second) in enumerate(pairs):
        if number < len(brokers):
            edges += [Edge(first, brokers[number]), Edge(second, brokers[number])]
        else:
            edges.append(Edge(first, second))
    nodes = [
        *(NetworkNode(name, INTERIOR) for name in routers),
        *(NetworkNode(name, BROKER) for name in brokers),
    ]
    return Network(tuple(nodes), tuple(edges))


def _at_cost_1(pairs: Callable[[int], Pairs]) -> Callable[[int], Iterable[tuple[int, int, int]]]:
    """Return the function of the same edges with a cost of 1 each."""
    return lambda size: [(first, second, 1) for first, second in pairs(size)]


def _line(size: int) -> Pairs:
    return pairwise(range(size))


def _ring(size: int) -> Pairs:
    return [*pairwise(range(size)), (0, size - 1)]


def _star(size: int) -> Pairs:
    return [(0, other) for other in range(1, size)]


def _tree(size: int) -> Pairs:
    return [((other - 1) // 2, other) for other in range(1, size)]


def _complete(size: int) -> Pairs:
    return combinations(range(size), 2)


def _grid(rows: int, columns: int) -> Iterable[tuple[int, int, int]]:
    for place in range(rows * columns):
        if (place + 1) % columns:
            yield place, place + 1, 1
        if place + columns < rows * columns:
            yield place, place + columns, 1


def _random(size: int, seed: int) -> Iterable[tuple[int, int, int]]:
    """Return a random tree and half as many more edges, with random costs; fixed by the seed."""
    rng = random.Random(seed)
    pairs = [(rng.randrange(other), other) for other in range(1, size)]
    unjoined = [pair for pair in combinations(range(size), 2) if pair not in pairs]
    pairs += rng.sample(unjoined, min(len(unjoined), size // 2))
    return [(first, second, rng.randint(*COSTS)) for first, second in sorted(pairs)]


def _first_number(size: int, *_: int) -> int:
    return size


SIZE = r"([1-9]\d{0,2})"


def _sized(name: str, least: int, words: str, pairs: Callable[[int], Pairs]) -> Form:
    return Form(name, f"{name}-SIZE", SIZE, least, words, _first_number, _at_cost_1(pairs))


FORMS: Mapping[str, Form] = {
    form.name: form
    for form in (
        _sized("line", 2, "{size} routers in line", _line),
        _sized("ring", 3, "a ring of {size} routers", _ring),
        _sized("star", 3, "a star of {size} routers, R1 in its middle", _star),
        _sized("tree", 3, "a binary tree of {size} routers with R1 at its root", _tree),
        _sized("complete", 3, "{size} routers, each joined with every other", _complete),
        Form(
            "grid",
            "grid-ROWSxCOLUMNS",
            rf"{SIZE}x{SIZE}",
            4,
            "a grid of {size} routers",
            lambda rows, columns: rows * columns,
            _grid,
        ),
        Form(
            "random",
            "random-SIZE-SEED",
            rf"{SIZE}-(\d{{1,9}})",
            3,
            "a random network of {size} routers, with costs of 1 to 3",
            _first_number,
            _random,
        ),
    )
}
"""Forms by name; in plans, numbers follow: ``ring-4``, ``grid-2x3``, ``random-6-1``."""

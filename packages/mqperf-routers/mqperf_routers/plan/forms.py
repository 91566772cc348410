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
"""Edges by the positions of their routers."""

MOST = 100
"""Routers of a form."""

COSTS = (1, 3)
"""The lowest and the highest cost of an edge of a random network."""


@dataclass(frozen=True, slots=True)
class Form:
    """A form: how plans call it, and the edges of a network that has it.

    ``numbers`` is a pattern with a group for each number in the name; ``size`` and ``edges`` take
    these numbers. ``words`` is the network in a sentence, with its size.
    """

    name: str
    shown: str
    numbers: str
    least: int
    words: str
    size: Callable[..., int]
    edges: Callable[..., Iterable[tuple[int, int, int]]]

    def network(self, text: str, ids: Sequence[str] | None = None) -> Network:
        """The network with the numbers that its name says, of routers of these ids or R1, R2."""
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
        """The words for the network, as a sentence begins with them."""
        words = self.words.format(size=size)
        return words[0].upper() + words[1:]

    def _match(self, text: str) -> Sequence[str]:
        match = re.fullmatch(self.numbers, text)
        if match is None:
            raise NetworkError(f"{self.name}-{text}: expected {self.shown}")
        return match.groups()


def with_brokers(network: Network, ids: Sequence[str]) -> Network:
    """The network with brokers beside it, which are joined with its routers in turn."""
    routers = [node.id for node in network.nodes]
    edges = [Edge(routers[number % len(routers)], name) for number, name in enumerate(ids)]
    brokers = tuple(NetworkNode(name, BROKER) for name in ids)
    return Network((*network.nodes, *brokers), (*network.edges, *edges))


def alternating(routers: Sequence[str], brokers: Sequence[str], *, ring: bool = False) -> Network:
    """Routers in line, or in a ring, and a broker beside each edge, as far as there are brokers.

    A broker stands between two routers that are not joined otherwise.
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


def _equal(pairs: Callable[[int], Pairs]) -> Callable[[int], Iterable[tuple[int, int, int]]]:
    """Edges that all cost 1."""
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
    """A random tree, and half as many edges more, all of random cost; equal seeds, equal edges."""
    chance = random.Random(seed)
    pairs = [(chance.randrange(other), other) for other in range(1, size)]
    unjoined = [pair for pair in combinations(range(size), 2) if pair not in pairs]
    pairs += chance.sample(unjoined, min(len(unjoined), size // 2))
    return [(first, second, chance.randint(*COSTS)) for first, second in sorted(pairs)]


def _as_it_is(size: int, *_: int) -> int:
    return size


SIZE = r"([1-9]\d{0,2})"


def _plain(name: str, least: int, words: str, pairs: Callable[[int], Pairs]) -> Form:
    return Form(name, f"{name}-SIZE", SIZE, least, words, _as_it_is, _equal(pairs))


FORMS: Mapping[str, Form] = {
    form.name: form
    for form in (
        _plain("line", 2, "{size} routers in line", _line),
        _plain("ring", 3, "a ring of {size} routers", _ring),
        _plain("star", 3, "a star of {size} routers, R1 in its middle", _star),
        _plain("tree", 3, "a binary tree of {size} routers with R1 at its root", _tree),
        _plain("complete", 3, "{size} routers, each joined with every other", _complete),
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
            _as_it_is,
            _random,
        ),
    )
}
"""By name; plans say it with numbers: ``ring-4``, ``grid-2x3``, ``random-6-1``."""

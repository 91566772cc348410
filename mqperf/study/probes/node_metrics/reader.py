"""What reads the answers of nodes in a protocol, and the figures that it finds there."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

MESSAGES, BYTES, SECONDS, NUMBER = "msg", "bytes", "s", ""
"""Units; what is counted otherwise has none."""

NODE, ALL = "node", "all"
"""The object that is the node as a whole, and the one that is all of a kind of its objects."""


class Figure(NamedTuple):
    """A quantity of an object of a kind: ``messages`` of the ``queue`` of a name."""

    kind: str
    object: str
    quantity: str
    value: float
    unit: str


@dataclass(frozen=True, slots=True)
class InsideReader:
    """The reader of a protocol, which is its name: by it logs call the answers.

    ``figures`` gives all of an answer, as JSON has it; it raises ``AttributeError``, ``KeyError``,
    ``TypeError`` or ``ValueError`` for what is none.
    """

    name: str
    figures: Callable[[Any], Iterator[Figure]]

"""The interface of readers of the metrics that nodes report in a protocol."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

MESSAGES, BYTES, SECONDS, NUMBER = "msg", "bytes", "s", ""
"""Units; other counts have none."""

NODE, ALL = "node", "all"
"""The object for the node as a whole, and the object for all objects of a kind together."""


class Figure(NamedTuple):
    """A quantity of an object of a kind, such as ``messages`` of a named ``queue``."""

    kind: str
    object: str
    quantity: str
    value: float
    unit: str


@dataclass(frozen=True, slots=True)
class InsideReader:
    """The reader of a protocol; ``name`` is the protocol as logs state it.

    ``figures`` yields all figures of a parsed JSON answer; it raises ``AttributeError``,
    ``KeyError``, ``TypeError`` or ``ValueError`` for an invalid one.
    """

    name: str
    figures: Callable[[Any], Iterator[Figure]]

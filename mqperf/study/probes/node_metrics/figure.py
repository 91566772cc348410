"""A figure of a node's inside, and whatever a log may hold in its place."""

from typing import NamedTuple

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

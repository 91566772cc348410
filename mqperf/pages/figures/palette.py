"""Colours with one meaning each, distinct for colour-blind readers, for light and dark pages."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Shade:
    """A colour on light pages, and its replacement on dark ones."""

    light: str
    dark: str


PAPER = Shade("#ffffff", "#131416")
INK = Shade("#24292f", "#e6e8eb")
FAINT = Shade("#59636e", "#a9b2bc")
GRID = Shade("#dde2e7", "#353b42")
BOX = Shade("#e8f1fa", "#1d2a38")
ACTION = Shade("#fbe3d6", "#4a2a1c")

THROUGHPUT = Shade("#0a5ea8", "#6cb4f2")
LATENCY = Shade("#c2410c", "#fb8c5a")
CPU = Shade("#04785a", "#34c99b")

NODES = (
    Shade("#7e3ba8", "#c79af0"),
    Shade("#9a6700", "#e3b341"),
    Shade("#0e7490", "#4cc3d9"),
    Shade("#a8325e", "#f08fb3"),
)
"""Broker nodes, in their order: Master, Slave 1, Slave 2."""

CASES = (
    Shade("#4338ca", "#a5a0ff"),
    Shade("#b0259c", "#f28be4"),
    Shade("#4d7c0f", "#a3cf4f"),
)
"""Test cases, in their order."""

TOPOLOGIES = (
    Shade("#334155", "#cbd5e1"),
    Shade("#b42318", "#f9a09a"),
    Shade("#0f6cbf", "#79b8ff"),
    Shade("#7a5a00", "#d9b44a"),
    Shade("#0b7a55", "#43d1a0"),
)
"""Topologies, in the order of ``plan.TOPOLOGIES``; the kind of queue is the dash."""

SENT = Shade("#94a9c1", "#64788f")
RECEIVED = Shade("#0b7285", "#5fd0e0")
REPLIED = Shade("#8a3ffc", "#c9a6ff")
LOST = Shade("#c92a2a", "#ff8787")
FAILED = Shade("#a15c00", "#ffb95c")
DOUBLED = Shade("#5f3dc4", "#b39dff")

THREADS = (
    Shade("#4fb36b", "#4a6fa5"),
    Shade("#1f9e89", "#31809a"),
    Shade("#26828e", "#1f9e88"),
    Shade("#31688e", "#4fb977"),
    Shade("#3e4989", "#9fd84a"),
    Shade("#440154", "#fde725"),
)
"""Thread counts in ascending order: the largest stands out most, on light and dark pages."""

SHADES = (
    *(PAPER, INK, FAINT, GRID, BOX, ACTION, THROUGHPUT, LATENCY, CPU),
    *(SENT, RECEIVED, REPLIED, LOST, FAILED, DOUBLED),
    *(*NODES, *CASES, *TOPOLOGIES, *THREADS),
)

DASHES = ("-", "--", ":", "-.")
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")


def assigned(choices: Sequence[T], names: Iterable[str], name: str) -> T:
    """Return the choice at the position of ``name`` among ``names``; choices repeat if too few."""
    return choices[list(names).index(name) % len(choices)]


def spread(choices: Sequence[T], position: int, count: int) -> T:
    """Pick from an ordered scale so that ``count`` positions span all of it."""
    return choices[-1 if count == 1 else round(position * (len(choices) - 1) / (count - 1))]

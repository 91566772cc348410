"""What reads the answers of nodes in a protocol."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from mqperf.study.probes.node_metrics.figure import Figure


@dataclass(frozen=True, slots=True)
class InsideReader:
    """The reader of a protocol, which is its name: by it logs call the answers.

    ``figures`` gives all of an answer, as JSON has it; it raises ``AttributeError``, ``KeyError``,
    ``TypeError`` or ``ValueError`` for what is none.
    """

    name: str
    figures: Callable[[Any], Iterator[Figure]]

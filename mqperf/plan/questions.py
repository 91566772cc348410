"""The questions that the key ``question`` of a plan may name."""

from dataclasses import dataclass

from mqperf.base.problems import unknown
from mqperf.base.registry import Registry


@dataclass(frozen=True, slots=True)
class Question:
    """A question; ``tells`` completes a sentence about its answer.

    Pages answer it by the value of the same name in the registry ``mqperf.answers``.
    """

    name: str
    tells: str


QUESTIONS = Registry(
    "questions",
    (
        Question("outage", "what clients see while actions stop, kill or cut something"),
        Question("factor", "by which factor each condition is slower than the first"),
        Question("sustained", "which rate a search found to be sustained"),
        Question("saturation", "up to which of the offered rates a system keeps up"),
        Question("scaling", "how throughput grows with threads, processes or hosts"),
        Question("comparison", "what a layout, version or option changes against another"),
    ),
)


def known_questions(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names; raises ``ValueError`` for one that is no question."""
    for name in names:
        if name not in QUESTIONS:
            raise ValueError(unknown("question", name, [*QUESTIONS]))
    return names

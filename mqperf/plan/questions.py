"""What a plan may ask: the names of questions, which ``question`` of a plan gives."""

from dataclasses import dataclass

from mqperf.base.problems import unknown
from mqperf.base.registry import Registry


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and in a sentence what its answer tells.

    Pages answer it: the registry ``mqperf.answers`` has a value of the same name.
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
    """The names; raises ``ValueError`` for one that is no question's."""
    for name in names:
        if name not in QUESTIONS:
            raise ValueError(unknown("question", name, [*QUESTIONS]))
    return names

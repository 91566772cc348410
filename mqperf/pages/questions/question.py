"""What whoever runs a plan wants to know, and what runs say to it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from mqperf.pages.report.drawings import Drawing
from mqperf.pages.report.rst import Text
from mqperf.pages.sections.section import Content
from mqperf.study.stats.compare import CANNOT_TELL
from mqperf.study.tables import Tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What runs say to a question, or what would decide it.

    ``sentences`` are finished RST, each about one test case, layout or condition; numbers are
    followed by their 95 % interval.  ``drawing`` is made for this answer alone, and ``table`` has
    what the sentences are read from.  ``settle`` says what would tell that which cannot be told.
    """

    question: str
    sentences: Sequence[Text]
    drawing: Drawing | None = None
    table: Content | None = None
    settle: Sequence[Text] = ()

    def counting(self, unit: str, kept: Sequence[str]) -> "Answer":
        """The same with a figure in this unit, but for names that are ``kept``."""
        return replace(self, drawing=self.drawing and self.drawing.counting(unit, kept))


MORE_REPEATS = Text("*repeats: 3* or more would tell how much these numbers differ by themselves.")
"""What settles an interval that single runs do not have."""


NARROWER = Text("Rates between one that is kept and the next, or *search*, would narrow it down.")
"""What settles where a rate ends that lies between two that were offered."""


def enough_repeats(comparisons: pd.DataFrame) -> Iterator[Text]:
    """What would tell whether figures that were compared differ, where these runs do not."""
    undecided = comparisons[comparisons["verdict"].eq(CANNOT_TELL)]
    if len(needed := undecided["repeats_needed"].dropna()):
        yield Text("*repeats: {}* would tell whether what is left open differs.").format(
            int(needed.max())
        )
    elif comparisons["ratio_low"].isna().any():
        yield MORE_REPEATS


@dataclass(frozen=True, slots=True)
class Answering:
    """How a question is answered: ``asked`` says whether the runs are such that they ask it.

    ``answer`` gives nothing where none of them can say anything to it.  Both take complete tables.
    """

    name: str
    asked: Callable[[Tables], bool]
    answer: Callable[[Tables], Answer | None]

"""What whoever runs a plan wants to know, and what runs say to it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from mqperf.pages.report.drawings import Drawing
from mqperf.pages.report.rst import Text
from mqperf.pages.sections.section import Content
from mqperf.study.stats.compare import CANNOT_TELL, LARGEST, MOST_REPEATS, WITHIN_RUN
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


_OF_REPEATS = (
    *("interval_kind", "verdict", "clock_share"),
    *("repeats_a", "repeats_b", "repeats_needed"),
)


def enough_repeats(comparisons: pd.DataFrame) -> Iterator[Text]:
    """What would tell whether figures that were compared differ, where these runs do not.

    These repeats did not, so it takes one more at least; where clocks hide all, none would.
    """
    repeated = comparisons.reindex(columns=_OF_REPEATS).query("interval_kind == 'repeats'")
    undecided = repeated[repeated["verdict"].eq(CANNOT_TELL) & repeated["clock_share"].le(LARGEST)]
    needed = undecided["repeats_needed"]
    which = "some of what" if needed.isna().any() and needed.notna().any() else "what"
    if needed.notna().any():
        more = int(undecided[["repeats_a", "repeats_b"]].min(axis=1).max()) + 1
        yield Text("*repeats: {}* would tell whether {} is left open differs.").format(
            max(int(needed.max()), more), which
        )
    if needed.isna().any():
        yield Text(
            "Longer runs (*duration_s*) differ less: {:,} repeats would not tell whether {} is left"
            " open differs."
        ).format(MOST_REPEATS, which)
    if needed.empty and comparisons["interval_kind"].isin(["none", WITHIN_RUN]).any():
        yield MORE_REPEATS


@dataclass(frozen=True, slots=True)
class Answering:
    """How a question is answered: ``asked`` says whether the runs are such that they ask it.

    ``answer`` gives nothing where none of them can say anything to it.  Both take complete tables.
    """

    name: str
    asked: Callable[[Tables], bool]
    answer: Callable[[Tables], Answer | None]

"""Questions of the author of a plan, and answers from its runs."""

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
    """The answer of runs to a question, or what would decide it.

    ``sentences`` are finished RST, each about one test case, layout or condition; numbers are
    followed by their 95 % interval.  ``drawing`` is made for this answer alone, and ``table`` has
    the figures behind the sentences.  ``settle`` says what would decide what is still open.
    """

    question: str
    sentences: Sequence[Text]
    drawing: Drawing | None = None
    table: Content | None = None
    settle: Sequence[Text] = ()

    def counting(self, unit: str, kept: Sequence[str]) -> "Answer":
        """Return the answer with a figure in this unit; names in ``kept`` stay as they are."""
        return replace(self, drawing=self.drawing and self.drawing.counting(unit, kept))


MORE_REPEATS = Text("*repeats: 3* or more would show how much these numbers vary from run to run.")
"""Advice if single runs give no interval."""


NARROWER = Text("Rates between the highest kept and the next, or *search*, would narrow it down.")
"""Advice if a limit lies between two offered rates."""


_OF_REPEATS = (
    *("interval_kind", "verdict", "clock_share"),
    *("repeats_a", "repeats_b", "repeats_needed"),
)


def enough_repeats(comparisons: pd.DataFrame) -> Iterator[Text]:
    """Yield how many repeats would decide whether compared figures differ, where it is open.

    At least one more than there are; figures with too large an error by clocks are left out.
    """
    repeated = comparisons.reindex(columns=_OF_REPEATS).query("interval_kind == 'repeats'")
    undecided = repeated[repeated["verdict"].eq(CANNOT_TELL) & repeated["clock_share"].le(LARGEST)]
    needed = undecided["repeats_needed"]
    what = "some of what" if needed.isna().any() and needed.notna().any() else "what"
    if needed.notna().any():
        more = int(undecided[["repeats_a", "repeats_b"]].min(axis=1).max()) + 1
        yield Text("*repeats: {}* would decide {} is still open.").format(
            max(int(needed.max()), more), what
        )
    if needed.isna().any():
        yield Text(
            "{} repeats would not decide {} is still open; longer runs (*duration_s*) vary less."
        ).format(MOST_REPEATS, what)
    if needed.empty and comparisons["interval_kind"].isin(["none", WITHIN_RUN]).any():
        yield MORE_REPEATS


@dataclass(frozen=True, slots=True)
class Answering:
    """Functions of a question: ``asked`` returns whether the runs pose it.

    ``answer`` returns None if the runs cannot answer it.  Both take complete tables.
    """

    name: str
    asked: Callable[[Tables], bool]
    answer: Callable[[Tables], Answer | None]

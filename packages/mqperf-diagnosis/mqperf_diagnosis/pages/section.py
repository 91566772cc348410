"""The section of causes: why each run on a page was not faster."""

from collections.abc import Iterator

from mqperf.pages.sections import Content, Section, View
from mqperf.study.tables import tidy
from mqperf_diagnosis.pages import words

SHOWN = ("cause_rank", "cause", "cause_at", "cause_share", "because", "cause_test")


def content(view: View) -> Iterator[Content]:
    """A row for each cause of a run."""
    causes = view.of_runs("causes", "cause_rank")
    yield Content(
        heading="Causes",
        words=words.summary(view.tables),
        caption=view.caption("causes"),
        rows=causes,
        columns=view.columns(causes, SHOWN, keep=()),
        key="run",
        data=tidy(causes),
        counts_messages=True,
    )


SECTION = Section("causes", content)

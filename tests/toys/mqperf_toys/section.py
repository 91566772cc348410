"""A minimal section: the durations of the runs."""

from collections.abc import Iterator

from mqperf.pages.sections import Content, Section, View
from mqperf.plan.columns import COLUMNS


def content(view: View) -> Iterator[Content]:
    """A row for each run."""
    yield Content(
        heading="Windows",
        words=["How long each run was measured."],
        caption=view.caption("windows"),
        rows=view.tables["runs"],
        columns={name: COLUMNS[name].heading() for name in ("threads", "window_s")},
        key="run",
    )


SECTION = Section("windows", content)

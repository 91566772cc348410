"""A replay beside its profile, in a row for each run."""

from collections.abc import Iterator

from mqperf.pages.sections import rows
from mqperf.pages.sections.section import Content, Section, View
from mqperf.study.tables import tidy
from mqperf_traffic.study.traffic import TABLE

WORDS = (
    "The load replays a traffic profile: for each route as many messages in each second, of its"
    " lengths, to as many queues. A second is off if what was sent in it differs by more than 2 %;"
    " a route, if its messages in the whole load do. The distance of lengths is the largest"
    " difference of the two cumulative distributions."
)


def content(view: View) -> Iterator[Content]:
    """A row for each run."""
    if view.tables[TABLE.name].empty:
        return
    runs = rows.of_runs(view.tables, TABLE.name, "run")
    names = tuple(column if isinstance(column, str) else column.name for column in TABLE.own)
    yield Content(
        heading="The replay and its profile",
        words=[WORDS],
        caption=view.caption("replays of traffic"),
        rows=runs,
        columns=view.columns(runs, names, keep=names),
        key="run",
        data=tidy(runs),
    )


SECTION = Section("traffic", content)

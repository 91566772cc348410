"""The link between hosts: as the plan has it, and as measured before and after the load."""

from collections.abc import Iterator

from mqperf.pages.report.words import joined
from mqperf.pages.sections.section import Content, Section, View
from mqperf.plan.columns import LINK, LINK_COLUMNS
from mqperf.study.tables import Tables, tidy


def content(view: View) -> Iterator[Content]:
    """Yield a table of the links of runs; quantities not planned or not measured have no column."""
    links = view.of_runs("links")
    axes, planned = view.axes, {column.name for column in LINK}
    names = [
        name
        for name in LINK_COLUMNS
        if name not in axes
        and links[name].notna().any()
        and (name not in planned or links[name].any())
    ]
    yield Content(
        heading="Link",
        words=[*_words(view.tables)],
        caption=view.caption("link"),
        rows=links,
        columns=view.columns(links, names),
        key="run",
        data=tidy(links),
        counts_messages=True,
    )


def _words(tables: Tables) -> Iterator[str]:
    """Yield sentences on the link, its measurement, and the congestion control of the hosts."""
    ends = [pair.replace(", ", " and ") for pair in tables["links"]["between"].unique()]
    yield (
        f"Every packet between {', or '.join(ends)} went over a link of this delay, jitter, loss"
        " and bandwidth."
    )
    yield (
        "Delays are one-way, measured by echoes before and after the load; losses are of all"
        " packets until then."
    )
    control = tables["hosts"]["tcp_congestion_control"].dropna().unique()
    if len(control):
        yield f"TCP congestion control of the hosts: {joined(list(control))}."


SECTION = Section("links", content)

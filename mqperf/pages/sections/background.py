"""Section on loads that ran beside the measured one."""

from collections.abc import Iterator

from mqperf.pages.sections.section import Content, Section, View
from mqperf.plan.columns import BACKGROUND
from mqperf.study.tables import tidy


def content(view: View) -> Iterator[Content]:
    """Yield a table with a row for each background load of a run."""
    loads = view.of_runs("background", "background")
    yield Content(
        heading="Background load",
        words=[
            (
                "Loads that ran beside the measured load from before its warm-up until after its"
                " cool-down. No other figure includes their messages. Throughput and latency are"
                " those of the measured window, counts those of the whole background load."
            )
        ],
        caption=view.caption("background load"),
        rows=loads,
        columns=view.columns(loads, BACKGROUND),
        key="run",
        data=tidy(loads),
        counts_messages=True,
    )


SECTION = Section("background", content)

"""The steps of an offered rate within a run: what was finished of each, and how slow it was."""

from collections.abc import Iterator

from mqperf.pages.report import drawings
from mqperf.pages.sections import rows
from mqperf.pages.sections.section import Content, Section, View
from mqperf.study.tables import tidy

TOLD = (
    *("step_rate_msg_s", "from_s", "until_s"),
    *("throughput_msg_s", "unfinished", "latency_mean_s", "latency_p99_s"),
)

KEPT = (
    "The offered rate changes in steps within a run. A step is kept where no more is unfinished at"
    " its end than 2 % of what was due in it, or what is due in 0.1 s, beside what is on its way."
)


def content(view: View) -> Iterator[Content]:
    """A row for each step of a run."""
    if view.tables["rate_steps"].empty:
        return
    steps = rows.of_runs(view.tables, "rate_steps", "from_s")
    caption = view.caption("steps of the offered rate")
    yield Content(
        heading="Steps of the offered rate",
        words=[
            KEPT,
            *view.tables["saturation_rates"]["text"],
        ],
        caption=caption,
        rows=steps,
        columns=view.columns(steps, TOLD),
        key="run",
        drawing=drawings.rates(caption, steps, "step_rate_msg_s", "latency_mean_s"),
        data=tidy(steps),
    )


SECTION = Section("rate_steps", content)

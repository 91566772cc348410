"""Section on the steps of an offered rate within a run: messages finished, and latency."""

from collections.abc import Iterator

from mqperf.pages.report import drawings
from mqperf.pages.sections.section import Content, Section, View
from mqperf.study.stats.compare import kinds_by_point
from mqperf.study.stats.rules.stairs import PAUSE_S, STEP
from mqperf.study.stats.rules.window import KEEPS_UP
from mqperf.study.tables import tidy

KEPT = (
    "The offered rate changes in steps within a run. A step is kept if at its end no more messages"
    f" are unfinished than {KEEPS_UP * 100:g} % of those due in it, or those due in {PAUSE_S:g} s,"
    " plus those in transit."
)


def content(view: View) -> Iterator[Content]:
    """Yield a table with a row for each step of a run."""
    steps = view.of_runs("rate_steps", "from_s")
    caption = view.caption("steps of the offered rate")
    doubted = kinds_by_point(view.tables)
    yield Content(
        heading="Steps of the offered rate",
        words=[
            KEPT,
            *view.tables["saturation_rates"]["text"],
        ],
        caption=caption,
        rows=steps,
        columns=view.columns(steps, STEP),
        key="run",
        drawing=drawings.rates(caption, steps, "step_rate_msg_s", "latency_mean_s", doubted),
        data=tidy(steps),
    )


SECTION = Section("rate_steps", content)

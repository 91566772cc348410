"""Sections on throughput second by second, and on single runs over time."""

from collections.abc import Iterator

from mqperf.base.one_line import amount
from mqperf.pages.report import drawings
from mqperf.pages.report.explorers import shown
from mqperf.pages.report.rst import Text
from mqperf.pages.sections.section import Content, Section, View
from mqperf.plan.columns import COLUMNS
from mqperf.study.tables import completed, where, with_parameters
from mqperf.study.tables.places import CONDITION


def content(view: View) -> Iterator[Content]:
    """Yield a drawing with a line for each run; warm-up, cool-down and actions are shaded."""
    intervals = view.tables["intervals"]
    if intervals.empty:
        return
    rows = with_parameters(intervals, view.tables["runs"])
    caption = view.caption("throughput over time")
    yield Content(
        heading="Throughput over time",
        words=[*_words(view)],
        drawing=drawings.timeline(caption, rows, view.tables["outages"]),
    )


def _words(view: View) -> Iterator[str]:
    """Yield the meaning of the lines, and whether the warm-up was long enough."""
    runs, phases = completed(view.tables["runs"]), view.tables["intervals"]["phase"]
    yield "Throughput in every second, one line per run."
    if phases.eq("warm-up").any():
        yield "Shaded seconds are warm-up and cool-down, and do not count."
    steady = runs[runs["warmup_found_s"].notna()]
    if len(steady):
        late = int((steady["warmup_found_s"] > steady["warmup_s"]).sum())
        yield (
            f"The start of the steady state is known for {len(steady)} of"
            f" {amount(len(runs), 'run')}; {late or 'none'} of them became steady only after the"
            " warm-up."
        )
    spread = view.tables["messages"]["throughput_sd_msg_s"]
    if view.tables["rate_steps"].empty and spread.notna().any():
        heading = COLUMNS["throughput_sd_msg_s"].heading()
        sentence = "The column *{}* is the standard deviation in the measured window."
        yield Text(sentence).format(heading)


def in_time(view: View) -> Iterator[Content]:
    """Yield a drawing of each run that represents its sweep, with all that was recorded of it."""
    drawn = [run for run in shown(view.tables) if run in view.in_time]
    others = sum(run in view.in_time for run in view.tables["runs"]["run"]) - len(drawn)
    for run in drawn:
        heading, alt = "One run in time", view.in_time[run].alt
        if len(drawn) > 1:
            heading += f", {where(view.tables['runs'], run=run)[CONDITION].iloc[0]}"
        words = [alt, *_how_to_read(others)] if run == drawn[0] else [alt]
        yield Content(heading=heading, words=words, drawing=view.in_time[run])


def _how_to_read(others: int) -> Iterator[str]:
    yield (
        "Shaded seconds are warm-up and cool-down, or an action of the plan. The heat map has the"
        " number of messages started in each second by latency, more intense for more messages;"
        " lines are of those finished in it."
    )
    if others:
        yield (
            f"{amount(others, 'other run')} of this test case can be opened from the table of"
            " messages, but not in a report in one file."
        )


SECTION = Section("seconds", content)
IN_TIME = Section("in_time", in_time)

"""Sections on searches for the highest rate that holds, and on runs that a condition ended."""

from collections.abc import Iterator

from mqperf.base.one_line import amount
from mqperf.pages.sections.offered_rates import differing
from mqperf.pages.sections.section import Content, Section, View, present
from mqperf.plan.columns import COLUMNS
from mqperf.study.tables import completed, tidy
from mqperf.study.tables.axes import FACTORS

SEARCH_COLUMNS = (
    *("limit_rate_msg_s", "limit_rate_msg_s_low", "limit_rate_msg_s_high"),
    *("held_rate_msg_s", "broken_rate_msg_s", "throughput_msg_s", "latency_p99_s"),
    *("search_runs", "limit", "search_ends", "doubted"),
)


def content(view: View) -> Iterator[Content]:
    """Yield a table with a row for each search."""
    searches = view.tables["searches"]
    varying = differing(searches, "threads", "condition")
    names = ("hold", *varying, *present(searches, SEARCH_COLUMNS, keep=()))
    yield Content(
        heading="Highest rate that holds",
        words=[
            (
                "Each search is a bisection of the range of offered rates, until it is as narrow"
                " as the plan asks. A rate holds if most of its runs do. The limit is the rate at"
                " which half of the runs hold, with its 95 % interval from all runs of the search."
            ),
            *searches["text"],
        ],
        caption=view.caption("searches"),
        rows=searches,
        columns={name: COLUMNS[name].heading() for name in names},
        data=tidy(searches),
    )


def ended_early(view: View) -> Iterator[Content]:
    """Yield a table with a row for each run that met the fail condition of its plan."""
    runs = view.tables["runs"].dropna(subset=["condition_failed"])
    if runs.empty:
        return
    names = ("threads", *(name for name in view.axes if name not in FACTORS))
    names += ("repeat", "asked_s", "window_s", "condition_failed")
    count = len(completed(view.tables["runs"]))
    yield Content(
        heading="Runs that ended early",
        words=[
            (
                f"{amount(len(runs), 'run')} of {count} met the fail condition of the plan and"
                " ended early. All figures of such a run are of its shortened window."
            )
        ],
        caption=view.caption("runs that ended early"),
        rows=runs,
        columns={name: COLUMNS[name].heading() for name in names},
        key="run",
        data=tidy(runs),
    )


SECTION = Section("searches", content)
ENDED_EARLY = Section("ended_early", ended_early)

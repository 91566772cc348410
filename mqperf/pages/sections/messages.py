"""Section on the messages of every attempt: sent, received, lost."""

from collections.abc import Iterator

import pandas as pd

from mqperf.base.one_line import amount
from mqperf.pages.report import drawings
from mqperf.pages.report.explorers import FOLDER
from mqperf.pages.report.rst import Text, download
from mqperf.pages.sections.section import Content, Section, View, present
from mqperf.plan.columns import COLUMNS, COUNTS
from mqperf.plan.test_cases import MESSAGES, TEST_CASES
from mqperf.study.stats.rules.finding import measured
from mqperf.study.tables import Tables, in_curves, tidy, varied
from mqperf.study.tables.axes import FACTORS

IN_TIME = "in_time"


def content(view: View) -> Iterator[Content]:
    """Yield a table with a row for each attempt, with repeat and status if they vary."""
    rows, caption = _attempts(view.tables), view.caption("Message count")
    names = present(rows, ("threads", *COUNTS), keep=("threads", "sent", "received", "lost"))
    names[1:1] = varied(rows)
    names += [name for name in ("repeat", "status") if len(rows[name].unique()) > 1]
    columns = {name: COLUMNS[name].heading() for name in names}
    if rows["run"].isin(list(view.in_time)).any():
        columns[IN_TIME] = "run in time"
    # dtype object: pandas would convert ``Text`` to plain strings
    links = pd.Series([_link(view, run) for run in rows["run"]], rows.index, dtype=object)
    yield Content(
        heading="Message processing",
        words=[*_words(view)],
        caption=caption,
        rows=rows.assign(**{IN_TIME: links}),
        columns=columns,
        key="run",
        drawing=drawings.counts(caption, rows),
        data=tidy(rows),
    )


def _attempts(tables: Tables) -> pd.DataFrame:
    """Return one row per attempt, also failed ones: messages, repeat, status and failure."""
    runs, counts = tables["runs"], tables["messages"][["run", *COUNTS]]
    factors = dict.fromkeys((*FACTORS, *varied(runs)))
    names = ["run", "point", "threads", *factors, "repeat", "status", "failure"]
    return in_curves(runs[names].merge(counts, on="run", how="left"), "repeat")


def _link(view: View, run: str) -> Text:
    drawn = view.in_time.get(run)
    return Text("") if drawn is None else download("open", FOLDER, f"{drawn.name}.svg")


def _words(view: View) -> Iterator[str]:
    yield Text(view.case.finish.points)
    yield f"Lost messages are {view.case.finish.lost}."
    if not view.published:
        yield "Counts are of whole runs, after the last message."
    yield from of_planned_actions(view.tables)


def of_planned_actions(tables: Tables) -> Iterator[str]:
    """Yield a sentence on losses in all runs with planned actions, if any: they raise no doubt."""
    all_runs = measured(tables)
    counted = all_runs[["lost", "asked"]].notna().all(axis="columns") & all_runs["asked"].gt(0)
    runs = all_runs[all_runs["run"].isin(tables["outages"]["run"]) & counted]
    if runs.empty:
        return
    units = {TEST_CASES[name].unit for name in runs["test_case"].unique()}
    noun = " or ".join(sorted("messages" if unit == MESSAGES else unit for unit in units))
    parts = [f"{runs['lost'].sum()} of {runs['asked'].sum()} {noun} were lost"]
    if runs["errors"].sum():
        parts.append(f"{runs['errors'].sum()} ended in an error at the client")
    worst = runs.sort_values("lost").iloc[-1]
    if len(runs) > 1 and worst["lost"]:
        share = 100 * worst["lost"] / worst["asked"]
        parts.append(f"at most {worst['lost']} of {worst['asked']} ({share:.2g} %) in one run")
    yield (
        f"In {amount(len(runs), 'run')} with planned actions {'; '.join(parts)}. Losses and errors"
        " from planned actions are results, not doubts."
    )


SECTION = Section("messages", content)

"""Losses of runs with planned actions: they raise no doubt, and are reported beside doubts."""

from collections.abc import Iterator

from mqperf.base.one_line import amount
from mqperf.plan.test_cases import MESSAGES, TEST_CASES
from mqperf.study.stats.rules.finding import measured
from mqperf.study.tables import Tables


def of_planned_actions(tables: Tables) -> Iterator[str]:
    """Yield a sentence on lost messages and errors of all runs with actions, if there are any."""
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

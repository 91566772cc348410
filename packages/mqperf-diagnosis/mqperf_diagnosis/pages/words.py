"""Causes in words: what limited each run, how to test that, and what is not known."""

from collections.abc import Iterator, Sequence
from math import isnan

import pandas as pd

from mqperf.pages.questions.words import grouped
from mqperf.plan.test_cases import unit_of
from mqperf.study.stats.checks import places
from mqperf.study.stats.rules.finding import each, measured
from mqperf.study.tables import Tables
from mqperf_diagnosis.study.evidence import keeping

NO_CAUSE = "no single cause is visible"
WITHOUT_PROBE = "node processes and waits were not recorded: add the probe waits to the plan"


def lines(tables: Tables) -> Iterator[str]:
    """The text of ``mqperf why``: a paragraph for each measured run."""
    runs, kept = measured(tables), keeping(tables)
    by_run = dict([*tables["causes"].groupby("run")])
    in_steps = {*tables["rate_steps"]["run"]}
    for row, place in zip(each(runs), places(runs, tables), strict=True):
        causes = by_run.get(row.run, tables["causes"].iloc[:0])
        figure = f"{grouped(row.throughput_msg_s)} {unit_of(row.test_case)}/sec"
        figure += ", the mean of its steps" if row.run in in_steps else ""
        figure = "throughput not known" if isnan(row.throughput_msg_s) else figure
        yield f"{place}: {figure} [{row.run}]"
        yield f"  {headline(causes, kept=row.run in kept)}"
        for cause in each(causes):
            yield f"  {cause.cause_rank}. {cause.cause} ({cause.cause_at}): {cause.because}"
            yield f"     to test it: {cause.cause_test}"
        yield from (f"  {text}" for text in limits(tables, row.run, causes))


def headline(causes: pd.DataFrame, *, kept: bool) -> str:
    """One sentence on a run: its first cause, that none is first, or that it ``kept`` its rate."""
    first = causes[causes["cause_rank"] == 1]
    if causes.empty:
        return f"it kept its offered rate, and {NO_CAUSE}" if kept else NO_CAUSE
    if kept:
        return "it kept its offered rate; closest to a limit:"
    names = [*first["cause"].unique()]
    if names[1:]:
        return f"{NO_CAUSE}: {' and '.join(names)} are equally likely"
    return f"most likely: {names[0]}"


def limits(tables: Tables, run: str, causes: pd.DataFrame) -> Iterator[str]:
    """What is not known for lack of the probe, and what is known without a cause."""
    if not tables["waits"]["run"].eq(run).any():
        yield f"not known: {WITHOUT_PROBE}"
    if causes.empty:
        verdict = tables["bottlenecks"].loc[tables["bottlenecks"]["run"].eq(run), "because"]
        yield from (f"known: {text}" for text in verdict)


def summary(tables: Tables) -> Sequence[str]:
    """The number of runs for each first cause, of those that did not keep an offered rate."""
    causes, runs = tables["causes"], measured(tables)
    kept = keeping(tables)
    first = causes[(causes["cause_rank"] == 1) & ~causes["run"].isin(kept)]
    alone = first.drop_duplicates(["run", "cause"]).drop_duplicates("run", keep=False)
    number = runs["run"].nunique()
    phrases = [
        f"{name}: {count} of {number} runs" for name, count in alone["cause"].value_counts().items()
    ]
    without_cause = number - len(alone) - len(kept)
    phrases += [f"{NO_CAUSE}: {without_cause} of {number} runs"] if without_cause else []
    phrases += [f"none, because the rate was kept: {len(kept)} of {number} runs"] if kept else []
    return [f"What limited these runs, by most likely cause: {'; '.join(phrases)}."]

"""Several systems in one report: their tops in one table, and what to mind in comparing them."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import pandas as pd

from mqperf.base.one_line import amount
from mqperf.pages.report.rst import Grid, Note, Text, link
from mqperf.pages.report.tops import why_not
from mqperf.pages.report.verdicts import UNTOLD, top_cell
from mqperf.pages.report.words import Layout, joined, three_figures
from mqperf.plan.test_cases import TEST_CASES
from mqperf.study.stats.sustained import FIGURE
from mqperf.study.tables import where
from mqperf.study.tables.axes import further
from mqperf.study.tables.axis_words import headed, shown_values

MACHINE = ("cpu_model", "cores", "memory_bytes", "os", "kernel")

SAME = (
    "generator_version",
    "python_version",
    "mqperf_version",
    "asked_s",
    "warmup_s",
    "targets",
    "threads",
)
"""What systems should have in common, beside the machine, if their numbers are to be compared."""


def caveats(runs: pd.DataFrame, titles: Mapping[str, str]) -> list[str]:
    """What to mind in comparing these systems: the machine, the versions, and what differs."""
    return [*_machine(runs), *_versions(runs, titles), *_unlike(runs, titles)]


def leaders(best: pd.DataFrame, titles: Mapping[str, str]) -> Iterator[Text]:
    """For each test case what every system sustains, the highest first; the others at the end."""
    for case, words in TEST_CASES.items():
        rows = where(best, test_case=case)
        if len(rows):
            parts = "; ".join(_leaders(rows, titles, f"{words.unit}/sec"))
            yield Text("**{}**, {}.").format(words.short, parts)


def _leaders(rows: pd.DataFrame, titles: Mapping[str, str], unit: str) -> Iterator[str]:
    told: set[str] = set()
    for kept, did in (("sustained", "sustained"), ("sound", "at most")):
        found = _highest(rows[rows[kept] & ~rows["system"].isin(told)], FIGURE)
        told |= {*found}
        if found:
            rates = [f"{titles[name]} {three_figures(rate)}" for name, rate in found.items()]
            yield f"{did}: {joined(rates)} {unit}" + (f" ({UNTOLD})" if kept == "sound" else "")
    raw = _highest(rows, f"top_{FIGURE}")
    for name in (name for name in raw if name not in told):
        why = why_not(where(rows, system=name))
        yield f"of {titles[name]} {why}, the raw maximum is {three_figures(raw[name])} {unit}"
    above = _highest(rows[rows[f"top_{FIGURE}"] > rows[FIGURE]], f"top_{FIGURE}")
    if rates := [f"{titles[name]} {three_figures(above[name])}" for name in above if name in told]:
        yield f"raw maxima, with doubts: {joined(rates)} {unit}"


def overview(best: pd.DataFrame, layouts: Mapping[str, Sequence[Layout]]) -> Grid:
    """The sustained throughput of every layout of every system, a column per test case.

    Footnotes are those of the overview of one system.
    """
    cases = [case for case in TEST_CASES if (best["test_case"] == case).any()]
    notes: dict[str, Note] = {}
    rows = []
    for system, own in layouts.items():
        for layout in own:
            tops = {top["test_case"]: top for top in layout.of(best).to_dict("records")}
            rows.append(
                (
                    link(layout.system_title, system),
                    link(layout.label, system, layout.folder),
                    *(top_cell(tops.get(case), notes) for case in cases),
                )
            )
    units = (f"{TEST_CASES[case].short}, {TEST_CASES[case].unit}/sec" for case in cases)
    headings = ("System", "Topology", *units)
    style = "numbers named paired"
    return Grid("", headings, tuple(rows), tuple(notes.values()), style=style)


def _highest(rows: pd.DataFrame, column: str) -> dict[str, float]:
    """System -> its highest value, the highest first."""
    tops = rows.groupby("system")[column].max().sort_values(ascending=False)
    return {str(system): float(rate) for system, rate in tops.items()}


def _machine(runs: pd.DataFrame) -> Iterator[str]:
    machines = runs[list(MACHINE)].drop_duplicates()
    if machines.isna().any(axis=None):
        yield "Not all runs record their machine: a difference may come from the machines."
    elif len(machines) > 1:
        yield (
            f"The systems were measured on {amount(len(machines), 'kind')} of machine:"
            " a difference between them may come from the machines."
        )
    else:
        one = machines.iloc[0]
        yield (
            f"All systems were measured on one kind of machine ({one['cpu_model']},"
            f" {amount(one['cores'], 'hardware thread')}): the comparison is valid for that machine"
            " only."
        )
        if runs["network_card"].eq("loopback").fillna(value=False).all():
            yield (
                "Brokers and load generators shared that machine, without a network between them:"
                " a system whose broker needs more CPU leaves less to its load generators."
            )


def _versions(runs: pd.DataFrame, titles: Mapping[str, str]) -> Iterator[str]:
    compared = [
        " ".join([title, *where(runs, system=system)["system_version"].dropna().unique()])
        for system, title in titles.items()
    ]
    yield f"Compared are {joined(compared)}."


def _unlike(runs: pd.DataFrame, titles: Mapping[str, str]) -> Iterator[str]:
    """What is not the same for all systems, each as a sentence."""
    own = {title: where(runs, system=system) for system, title in titles.items()}
    others = further(runs)
    for column in (*SAME, *others):
        tell = partial(shown_values, column) if column in others else partial(_sorted, column)
        values = {title: joined(tell(some)) for title, some in own.items()}
        if len(set(values.values())) > 1:
            each = "; ".join(f"{title} {value or 'unknown'}" for title, value in values.items())
            yield Text("Not the same for all, **{}**: {}.").format(headed(column), each)


def _sorted(column: str, runs: pd.DataFrame) -> list[str]:
    return [
        f"{value:g}" if isinstance(value, float) else str(value)
        for value in sorted(runs[column].dropna().unique())
    ]

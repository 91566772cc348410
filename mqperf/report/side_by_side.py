"""Several systems in one report: their tops in one table, and what to mind in comparing them."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import pandas as pd

from mqperf.columns import COLUMNS
from mqperf.report.rst import Grid, Note, Text, link
from mqperf.report.verdicts import top_cell
from mqperf.report.words import Layout, amount, joined, three_figures
from mqperf.tables import where
from mqperf.tables.axes import further
from mqperf.tables.axis_words import headed, shown_values
from mqperf.test_cases import TEST_CASES

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
    """For each test case the top of every system, the highest first; doubted ones at the end."""
    unit = COLUMNS["throughput_msg_s"].shown
    for case, words in TEST_CASES.items():
        rows = where(best, test_case=case)
        sound, doubted = _highest(rows[rows["sound"]]), _highest(rows[~rows["sound"]])
        rates = [f"{titles[name]} {three_figures(rate)}" for name, rate in sound.items()]
        parts = [f"{joined(rates)} {unit}"] if rates else []
        for name, rate in doubted.items():
            if name not in sound:
                parts.append(
                    f"of {titles[name]} no point is beyond doubt, the highest seems to be"
                    f" {three_figures(rate)} {unit}"
                )
        if parts:
            yield Text("**{}**, at most: {}.").format(words.short, "; ".join(parts))


def overview(best: pd.DataFrame, layouts: Mapping[str, Sequence[Layout]]) -> Grid:
    """The top throughput of every layout of every system, a column per test case.

    The kinds of doubt about a top are its footnotes.
    """
    cases = [case for case in TEST_CASES if (best["test_case"] == case).any()]
    unit = COLUMNS["throughput_msg_s"].shown
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
    headings = ("System", "Topology", *(f"{TEST_CASES[case].short}, {unit}" for case in cases))
    style = "numbers named paired"
    return Grid("", headings, tuple(rows), tuple(notes.values()), style=style)


def _highest(rows: pd.DataFrame) -> dict[str, float]:
    """System -> its highest throughput, the highest first."""
    tops = rows.groupby("system")["throughput_msg_s"].max().sort_values(ascending=False)
    return {str(system): float(rate) for system, rate in tops.items()}


def _machine(runs: pd.DataFrame) -> Iterator[str]:
    machines = runs[list(MACHINE)].drop_duplicates()
    if machines.isna().any(axis=None):
        yield "Not all runs tell what machine they ran on: a difference may be one of the machines."
    elif len(machines) > 1:
        yield (
            f"The systems were measured on {amount(len(machines), 'kind')} of machine:"
            " a difference between them may be one of the machines."
        )
    else:
        one = machines.iloc[0]
        yield (
            f"All systems were measured on one kind of machine ({one['cpu_model']},"
            f" {amount(one['cores'], 'hardware thread')}): the numbers compare them there, and"
            " nowhere else."
        )
        if runs["network_card"].eq("loopback").fillna(value=False).all():
            yield (
                "Brokers and load generators shared that machine, and no network lay between"
                " them: a system whose broker needs more CPU leaves less to its load generators."
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

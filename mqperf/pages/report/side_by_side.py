"""Several systems in one report: caveats of their comparison."""

from collections.abc import Iterator, Mapping

import pandas as pd

from mqperf.base.one_line import amount
from mqperf.pages.report.rst import Text
from mqperf.pages.report.words import joined
from mqperf.study.stats.rules.together import restarted
from mqperf.study.tables import where
from mqperf.study.tables.axes import further
from mqperf.study.tables.axis_words import headed, shown_values

MACHINE = ("cpu_model", "cores", "os", "kernel")

SAME = (
    "generator",
    "generator_version",
    "python_version",
    "mqperf_version",
    "asked_s",
    "warmup_s",
    "targets",
    "load_beside",
    "threads",
)
"""Columns in which systems should agree, beside the machine, for their numbers to compare."""


def caveats(runs: pd.DataFrame, titles: Mapping[str, str]) -> list[str]:
    """Return caveats of a comparison of these systems: machines, versions, and differences."""
    return [*_machine(runs), *_versions(runs, titles), *_differences(runs, titles)]


def _machine(runs: pd.DataFrame) -> Iterator[str]:
    machines = runs[list(MACHINE)].drop_duplicates()
    if machines.isna().any(axis=None) or runs["memory_bytes"].isna().any():
        yield "Not all runs record their machine: a difference may come from the machines."
    elif len(machines) > 1 or not restarted(runs):
        yield (
            "The systems were measured on several kinds of machine:"
            " a difference between them may come from the machines."
        )
    else:
        machine = machines.iloc[0]
        yield (
            f"All systems were measured on one kind of machine ({machine['cpu_model']},"
            f" {amount(machine['cores'], 'hardware thread')}): the comparison is valid for that"
            " machine only."
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


def _differences(runs: pd.DataFrame, titles: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence on each column whose values differ between systems."""
    by_title = {title: where(runs, system=system) for system, title in titles.items()}
    for column in (*SAME, *further(runs)):
        values = {title: joined(shown_values(column, rows)) for title, rows in by_title.items()}
        if len(set(values.values())) > 1:
            each = "; ".join(f"{title} {value or 'unknown'}" for title, value in values.items())
            yield Text("Not the same for all, **{}**: {}.").format(headed(column), each)

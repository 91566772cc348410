"""The table of causes: why each run was not faster, the likeliest first.

An alarm stops publishers, and a quota its role, whatever else is full; and a full resource makes
windows full, too.  So causes are ranked in that order, and within a group by how full they are.
Causes that are almost equally full have the same rank.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pandas as pd

from mqperf.plan.columns import Table, share, text
from mqperf.plan.columns.column import number
from mqperf.study.stats.rules.finding import RUN_KEYS
from mqperf.study.tables import Tables, conform
from mqperf_diagnosis.study import resources, windows
from mqperf_diagnosis.study.evidence import Cause, Evidence, evidence

ALIKE = 0.05
"""Difference of shares up to which two causes have the same rank."""

Rule = Callable[[Evidence], Iterator[Cause]]

GROUPS: Sequence[Sequence[Rule]] = (
    (resources.alarm, resources.quota),
    resources.RULES,
    windows.RULES,
)
"""Causes of an earlier group explain those of a later one."""


def causes(tables: Tables) -> pd.DataFrame:
    """One row per run and cause; no row for a run without evidence of any."""
    rows = [
        {**{key: getattr(run_evidence.run, key) for key in RUN_KEYS}, **_row(rank, cause)}
        for run_evidence in evidence(tables)
        for rank, cause in ranked(run_evidence)
    ]
    return conform("causes", pd.DataFrame(rows, columns=TABLE.columns))


def ranked(run: Evidence) -> Iterator[tuple[int, Cause]]:
    """The causes of a run with their ranks, from 1."""
    place = 0
    for rules in GROUPS:
        group = sorted(
            _without_repeats(cause for rule in rules for cause in rule(run)), key=lambda c: -c.share
        )
        rank, most = 0, 0.0
        for cause in group:
            place += 1
            if not rank or cause.share < most - ALIKE:
                rank, most = place, cause.share
            yield rank, cause


def _without_repeats(causes: Iterator[Cause]) -> list[Cause]:
    """The causes, of several with the same name and place only the one with the largest share."""
    largest: dict[tuple[str, str], Cause] = {}
    for cause in causes:
        key = cause.name, cause.at
        if key not in largest or cause.share > largest[key].share:
            largest[key] = cause
    return [*largest.values()]


def _row(rank: int, cause: Cause) -> dict[str, Any]:
    return {
        "cause_rank": rank,
        "cause": cause.name,
        "cause_at": cause.at,
        "cause_share": cause.share,
        "because": cause.because,
        "cause_test": cause.test,
    }


TABLE = Table(
    name="causes",
    row="a possible reason why a run was not faster",
    own=(
        number("cause_rank", "Rank among the causes of the run; the same where none is first."),
        text("cause", "What limited it.", "cause"),
        text("cause_at", "The role, node, host or link that limited it.", "at"),
        share("cause_share", "How full that was, or for which share of the window.", "share"),
        "because",
        text("cause_test", "What would show whether it is the cause.", "what would test it"),
    ),
    computed=causes,
)

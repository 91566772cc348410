"""What two sets of runs differ in besides their figures, to be read before any number."""

from collections.abc import Sequence

import pandas as pd

from mqperf.base.one_line import amount
from mqperf.plan import columns
from mqperf.plan.columns import parameters
from mqperf.study.stats.rules.together import MACHINE, NETWORK, restarted
from mqperf.study.tables import Tables, completed, conform, empty, of_plan, outside_plan, varied
from mqperf.study.tables.axes import SWEEP, further
from mqperf.study.tables.axis_words import days, headed, shown_values, texts
from mqperf.study.tables.hosts import made_on

HARDWARE, VERSIONS, PLAN, MEASURING = ASPECTS = ("hardware", "versions", "plan", "measuring")
"""What a difference is one of; hardware has the settings of its operating system."""

COMPARED = {
    **dict.fromkeys(("status", "generator"), MEASURING),
    **dict.fromkeys(columns.VERSIONS, VERSIONS),
    "hosts": PLAN,
    **dict.fromkeys((*MACHINE[:5], *NETWORK, *MACHINE[5:]), HARDWARE),
    **dict.fromkeys(("green_threads", "processes", "targets", "load_beside"), PLAN),
    **dict.fromkeys(("warmup_s", "asked_s", "cooldown_s", "timeout_s", "order"), PLAN),
}
"""Columns of ``runs`` that two sets of runs should have in common, and what each is about."""

UNKNOWN = "not stated"
NOTHING = "nothing"

NAMED = 5
"""Points beside the plan that are named; the others are counted."""


def differences(a: Tables, b: Tables) -> pd.DataFrame:
    """The table ``differences``: one row per property whose values are not the same in A and B.

    A property that one side states and the other does not is a difference, too; a hundredth of the
    memory is none.  The days of
    measuring come first, the number of repeats and of points that only one side has come last.
    Points that the plan of their folder does not ask for count for none of these; they are named,
    also when both sides have the same.
    """
    runs_a, runs_b = (of_plan(tables)["runs"] for tables in (a, b))
    rows = [
        (MEASURING, "Days of measuring", days(runs_a) or UNKNOWN, days(runs_b) or UNKNOWN),
        *(
            (aspect, _what(name), _values(runs_a[name]), _values(runs_b[name]))
            for name, aspect in COMPARED.items()
            if name != "memory_bytes" or not restarted(runs_a, runs_b)
        ),
    ]
    rows.append((HARDWARE, "Hosts", _hosts(a), _hosts(b)))
    for name in further(runs_a, runs_b):
        in_a, in_b = (_joined(shown_values(name, runs)) for runs in (runs_a, runs_b))
        rows.append((PLAN, _what(name), in_a, in_b))
    rows.append((PLAN, "Actions", _actions(a), _actions(b)))
    rows.append((MEASURING, "Whole runs of each point", _repeats(runs_a), _repeats(runs_b)))
    rows.append((MEASURING, "Points that the other has not", *_in_one_only(runs_a, runs_b)))
    differing = [row for row in rows if row[2] != row[3]]
    left_out = _beside(a), _beside(b)
    if left_out != (NOTHING, NOTHING):
        differing.append((MEASURING, "Left out, as the plan does not ask for it", *left_out))
    columns = ["aspect", "what", "value_in_a", "value_in_b"]
    return conform("differences", pd.DataFrame(differing, columns=columns))


def _what(name: str) -> str:
    heading = headed(name)
    return f"{heading[0].upper()}{heading[1:]}"


def _values(column: pd.Series) -> str:
    return _joined(texts(column.sort_values()))


def _hosts(tables: Tables) -> str:
    """Each set of hosts by which runs of the plan were made."""
    rows = tables.get("hosts")
    if rows is None:
        return UNKNOWN
    sets = made_on(rows[rows["run"].isin(of_plan(tables)["runs"]["run"])])
    return "; ".join(sorted(sets.unique())) or UNKNOWN


def _repeats(runs: pd.DataFrame) -> str:
    return _values(completed(runs).groupby("point").size())


def _actions(tables: Tables) -> str:
    """What the plan did to which node, and when, each once: ``kill of Master at 10 s``."""
    rows = of_plan(tables).get("outages", empty("outages"))
    told = rows.drop_duplicates(["action", "node", "commanded_s"]).sort_values("commanded_s")
    each = (
        f"{row['action']} of {row['node']} at {row['commanded_s']:g} s"
        for row in told.to_dict("records")
    )
    return "; ".join(each) or NOTHING


def _in_one_only(a: pd.DataFrame, b: pd.DataFrame) -> tuple[str, str]:
    """Of points told apart as in ``compare``: a parameter that is not set is a value, too."""
    varying = {*varied(a), *varied(b)}
    keys = [*SWEEP[1:], "threads", *(name for name in parameters() if name in varying)]
    points_a, points_b = (
        {
            *runs[runs["point"].notna()]
            .reindex(columns=keys)
            .astype(object)
            .fillna("")
            .itertuples(index=False, name=None)
        }
        for runs in (a, b)
    )
    return str(len(points_a - points_b)), str(len(points_b - points_a))


def _beside(tables: Tables) -> str:
    """The points that the folder's plan does not ask for, in words."""
    outside = outside_plan(tables).drop_duplicates("point")
    points = [
        f"{row['system']} {row['topology']} {row['queues']}, {row['test_case']},"
        f" {amount(row['threads'], 'thread')}, window {_values(pd.Series([row['asked_s']]))} s"
        for row in outside.to_dict("records")
    ]
    more = [f"and {len(points) - NAMED} more"] if len(points) > NAMED else []
    return "; ".join([*points[:NAMED], *more]) or NOTHING


def _joined(values: Sequence[str]) -> str:
    return ", ".join(values) or UNKNOWN

"""Differences between two sets of runs besides their figures, to be read before any number."""

from collections.abc import Sequence

import pandas as pd

from mqperf.base.one_line import amount
from mqperf.plan import columns
from mqperf.plan.columns import parameters
from mqperf.study.stats.rules.speed import unequal
from mqperf.study.stats.rules.together import MACHINE, NETWORK, restarted
from mqperf.study.tables import Tables, completed, conform, empty, of_plan, outside_plan, varied
from mqperf.study.tables.axes import SWEEP, further
from mqperf.study.tables.axis_words import days, headed, shown_values, texts
from mqperf.study.tables.hosts import made_on

HARDWARE, VERSIONS, PLAN, MEASURING = ASPECTS = ("hardware", "versions", "plan", "measuring")
"""The aspects of differences; hardware includes settings of the operating system."""

COMPARED = {
    **dict.fromkeys(("status", "generator"), MEASURING),
    **dict.fromkeys(columns.VERSIONS, VERSIONS),
    "hosts": PLAN,
    **dict.fromkeys((*MACHINE[:5], *NETWORK, *MACHINE[5:]), HARDWARE),
    **dict.fromkeys(("green_threads", "processes", "targets", "load_beside"), PLAN),
    **dict.fromkeys(("warmup_s", "asked_s", "cooldown_s", "timeout_s", "order"), PLAN),
}
"""Columns of ``runs`` that two sets of runs should have in common, with the aspect of each."""

UNKNOWN = "not stated"
NOTHING = "nothing"

MOST_LISTED = 5
"""How many points that the plan does not ask for are listed; the others are counted."""


def differences(a: Tables, b: Tables) -> pd.DataFrame:
    """The table ``differences``: one row per property whose values are not the same in A and B.

    A property that only one side states is a difference, too; 1 % of the memory is none.  The days
    of measuring come first, the number of repeats and of points that only one side has come last.
    Points that the plan of their folder does not ask for are ignored here, and listed in a row of
    their own, also when both sides have the same ones.
    """
    runs_a, runs_b = (of_plan(tables)["runs"] for tables in (a, b))
    rows = [
        (MEASURING, "Days of measuring", days(runs_a) or UNKNOWN, days(runs_b) or UNKNOWN),
        *(
            (aspect, _heading(name), _values(runs_a[name]), _values(runs_b[name]))
            for name, aspect in COMPARED.items()
            if name != "memory_bytes" or not restarted(runs_a, runs_b)
        ),
    ]
    rows.append((HARDWARE, "Hosts", _hosts(a), _hosts(b)))
    speed_a, speed_b = core_speed(a), core_speed(b)
    if unequal(speed_a, speed_b):
        rows.append((HARDWARE, _heading("core_speed"), f"{speed_a:.0f}", f"{speed_b:.0f}"))
    for name in further(runs_a, runs_b):
        in_a, in_b = (_joined(shown_values(name, runs)) for runs in (runs_a, runs_b))
        rows.append((PLAN, _heading(name), in_a, in_b))
    rows.append((PLAN, "Actions", _actions(a), _actions(b)))
    rows.append((MEASURING, "Whole runs of each point", _repeats(runs_a), _repeats(runs_b)))
    rows.append((MEASURING, "Points that the other has not", *_missing_in_other(runs_a, runs_b)))
    differing = [row for row in rows if row[2] != row[3]]
    not_of_plan = _not_of_plan(a), _not_of_plan(b)
    if not_of_plan != (NOTHING, NOTHING):
        differing.append((MEASURING, "Left out, as the plan does not ask for it", *not_of_plan))
    columns = ["aspect", "what", "value_in_a", "value_in_b"]
    return conform("differences", pd.DataFrame(differing, columns=columns))


def _heading(name: str) -> str:
    heading = headed(name)
    return f"{heading[0].upper()}{heading[1:]}"


def _values(column: pd.Series) -> str:
    return _joined(texts(column.sort_values()))


def _hosts(tables: Tables) -> str:
    """Each set of hosts on which runs of the plan were made."""
    rows = tables.get("hosts")
    if rows is None:
        return UNKNOWN
    sets = made_on(rows[rows["run"].isin(of_plan(tables)["runs"]["run"])])
    return "; ".join(sorted(sets.unique())) or UNKNOWN


def core_speed(tables: Tables) -> float:
    """The median speed of a core, of all hosts in all runs of the plan; NaN where not recorded."""
    return float(of_plan(tables).get("cpu", empty("cpu"))["core_speed"].median())


def _repeats(runs: pd.DataFrame) -> str:
    return _values(completed(runs).groupby("point").size())


def _actions(tables: Tables) -> str:
    """The different actions of the plan, with node and time: ``kill of Master at 10 s``."""
    rows = of_plan(tables).get("outages", empty("outages"))
    actions = rows.drop_duplicates(["action", "node", "commanded_s"]).sort_values("commanded_s")
    phrases = (
        f"{row['action']} of {row['node']} at {row['commanded_s']:g} s"
        for row in actions.to_dict("records")
    )
    return "; ".join(phrases) or NOTHING


def _missing_in_other(a: pd.DataFrame, b: pd.DataFrame) -> tuple[str, str]:
    """Numbers of points that only A, and only B, has; an unset parameter is a value, too."""
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


def _not_of_plan(tables: Tables) -> str:
    """The points that the plan of the folder does not ask for, in words."""
    outside = outside_plan(tables).drop_duplicates("point")
    points = [
        f"{row['system']} {row['topology']} {row['queues']}, {row['test_case']},"
        f" {amount(row['threads'], 'thread')}, window {_values(pd.Series([row['asked_s']]))} s"
        for row in outside.to_dict("records")
    ]
    more = [f"and {len(points) - MOST_LISTED} more"] if len(points) > MOST_LISTED else []
    return "; ".join([*points[:MOST_LISTED], *more]) or NOTHING


def _joined(values: Sequence[str]) -> str:
    return ", ".join(values) or UNKNOWN

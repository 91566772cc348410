"""All tables of a runs folder: those that were read, and those that are computed from them."""

import numpy as np
import pandas as pd

from mqperf.base.errors import TableError
from mqperf.plan.columns import TABLES
from mqperf.study.stats.between_rates import limits_compared
from mqperf.study.stats.bottleneck import bottlenecks
from mqperf.study.stats.checks import doubts
from mqperf.study.stats.compare import MIN_EFFECT, POINT_KEYS, compare
from mqperf.study.stats.decided import decided_between
from mqperf.study.stats.differences import differences
from mqperf.study.stats.factors import factors
from mqperf.study.stats.offered_rates import saturation_rates, with_middle_rates
from mqperf.study.stats.scaling import saturation_points
from mqperf.study.stats.searches import searches
from mqperf.study.stats.summary import points
from mqperf.study.stats.sustained import FIGURE, in_both, sustained
from mqperf.study.tables import Tables, conform, control_runs_apart, empty, of_plan, outside_plan
from mqperf.study.tables.axes import SWEEP
from mqperf.study.tables.shape import python_strings


@python_strings
def complete(tables: Tables) -> dict[str, pd.DataFrame]:
    """The tables, and all computed ones except those that need two sets of runs.

    Control runs have a table of their own, and no rows in the others.  Doubts which came with the
    tables (the wording of a published report) come before the computed ones.
    """
    found = doubts(tables)
    given = tables.get("doubts")
    merged = found if given is None or given.empty else pd.concat([given, found], ignore_index=True)
    tables = control_runs_apart(tables)
    verdicts = bottlenecks(tables)
    with_points = {**tables, "points": points(tables), "doubts": merged}
    planned = of_plan(with_points)
    completed = {
        **with_points,
        "saturation_points": saturation_points(planned),
        "saturation_rates": saturation_rates(planned, verdicts),
        "searches": searches(planned, verdicts),
        "sustained": sustained(planned),
        "bottlenecks": verdicts,
        "factors": factors({**of_plan(tables), "doubts": merged}),
    }
    for name, table in TABLES.items():
        if table.computed is not None:
            completed[name] = table.computed(completed)
    return completed


def compared(
    a: Tables, b: Tables, *, across_systems: bool = False, min_effect: float | None = None
) -> dict[str, pd.DataFrame]:
    """The tables ``differences``, ``sustained_compared`` and ``comparison`` of two complete sets.

    With ``across_systems`` points of different systems are compared; without, only those of the
    same system.  ``min_effect`` is the minimum relevant difference, by default ``MIN_EFFECT``.
    Points that the plan of a folder does not ask for are only listed among the differences.  Two
    searches are compared by their limits, and at common rates by everything but throughput.
    """
    keys = [key for key in POINT_KEYS if not (across_systems and key == "system")]
    least = MIN_EFFECT if min_effect is None else min_effect
    sides = _planned_side(a, "A"), _planned_side(b, "B")
    limits = limits_compared(*sides, keys, least)
    searched = all(len(side.get("searches", ())) for side in sides)
    comparable = map(_without_throughput if searched else with_middle_rates, sides)
    parts = [limits]
    try:
        comparison = compare(*comparable, keys=keys, min_effect=least)
        parts.append(decided_between(comparison, *sides, keys))
    except TableError:
        if limits.empty:  # else limits alone are compared: no rate was tried in both
            raise
    return {
        "differences": differences(a, b),
        "sustained_compared": in_both(_sustained_at_points(a), _sustained_at_points(b), keys),
        "comparison": conform("comparison", pd.concat([rows for rows in parts if len(rows)])),
    }


def _without_throughput(tables: Tables) -> Tables:
    """The tables with throughput set to NaN: in a search it is the rate that was tried."""
    return {**tables, "messages": tables["messages"].assign(**{FIGURE: np.nan})}


def _sustained_at_points(tables: Tables) -> pd.DataFrame:
    """The table ``sustained`` without staircases and searches, whose rates ``comparison`` has."""
    keys, rows = [*SWEEP], tables.get("sustained", empty("sustained"))
    for name in ("rate_steps", "searches"):
        compared_by_rate = tables.get(name, empty(name)).set_index(keys).index
        rows = rows[~rows.set_index(keys).index.isin(compared_by_rate)]
    return rows


def _planned_side(tables: Tables, name: str) -> Tables:
    """The tables without points that are not of the plan; raises ``TableError`` when none is."""
    planned = of_plan(tables)
    if planned["runs"]["point"].isna().all() and len(outside_plan(tables)):
        raise TableError(
            f"the plan of {name} asks for none of the points that were measured into its folder:"
            " run it, or give the folder of the plan that was run"
        )
    return planned

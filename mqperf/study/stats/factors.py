"""Conditions of a plan compared with its first: the factor by which each figure changes."""

from collections.abc import Iterator

import pandas as pd

from mqperf.base.errors import TableError
from mqperf.study.stats.compare import judged, paired
from mqperf.study.tables import Tables, conditions, empty, of_points
from mqperf.study.tables.places import CONDITION


def factors(tables: Tables) -> pd.DataFrame:
    """The table ``factors``: one row per figure of a point under each condition but the first.

    Conditions are in the order of the plan.  ``ratio`` is the figure under the condition over that
    under the first, with interval and verdict as in a comparison of two sets of runs; p-values are
    corrected for all rows together.  Without conditions, or without runs under the first, there are
    no rows.
    """
    published = conditions(tables).set_index(CONDITION)["published_factor"]
    pairs = list(_pairs(tables, published))
    if not pairs:
        return empty("factors")
    table = judged("factors", pd.concat(pairs, ignore_index=True))
    positions = {name: position for position, name in enumerate(published.index)}
    return table.sort_values(
        CONDITION, key=lambda names: names.map(positions), kind="stable", ignore_index=True
    )


def _pairs(tables: Tables, published: pd.Series) -> Iterator[pd.DataFrame]:
    """For each condition but the first, its rows of ``paired`` with the first."""
    names = [str(name) for name in published.index]
    for name in names[1:]:
        try:
            pairs = paired(_under(tables, names[0]), _under(tables, name))
        except TableError:  # nothing was measured under one of the two conditions
            continue
        latency = pairs["figure"] == "latency_mean_s"
        factor = pd.Series(published[name], pairs.index, "float64").where(latency)
        yield pairs.assign(published_factor=factor).assign(**{CONDITION: name})


def _under(tables: Tables, condition: str) -> Tables:
    """The rows of the points that were measured under a condition."""
    runs = tables["runs"]
    points = runs.loc[runs.get(CONDITION, pd.Series(dtype=str)).eq(condition), "point"]
    return of_points(tables, points)

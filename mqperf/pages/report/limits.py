"""Bottlenecks of points: the combined verdicts on their runs."""

from collections.abc import Mapping

import pandas as pd

from mqperf.base.one_line import amount
from mqperf.study.tables import Tables

UNKNOWN, DIFFERS = "cannot tell", "differs"

LIMITS: Mapping[str, str] = {
    "tester": "the load generator",
    "host": "a full host",
    "broker": "a broker node",
    "network": "the network",
    "none": "none found",
    DIFFERS: "the repeats differ",
    UNKNOWN: "not known",
}
"""Kind of verdict -> its description."""


def of_points(tables: Tables) -> pd.Series:
    """Return the common verdict on all repeats of each point, or ``differs``, by point."""
    verdicts = tables["bottlenecks"].groupby("point")["bottleneck"]
    return verdicts.min().where(verdicts.min() == verdicts.max(), DIFFERS)


def known(limits: pd.Series) -> bool:
    """Return whether the bottleneck of any point is known."""
    return bool(limits.dropna().ne(UNKNOWN).any())


def sentence(limits: pd.Series) -> str:
    """Return a sentence on the number of points per bottleneck; ``limits`` is of ``of_points``."""
    if not known(limits):
        return (
            "The bottleneck of the points is not known: CPU of brokers and of load generators was"
            " not recorded together."
        )
    counted = limits.str.partition(":")[0].value_counts()
    parts = [f"{text} at {counted[kind]}" for kind, text in LIMITS.items() if kind in counted]
    return f"Bottleneck of {amount(len(limits), 'point')}: {', '.join(parts)}."

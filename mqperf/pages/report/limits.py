"""Bottlenecks of points: the verdicts on their runs, put together."""

from collections.abc import Mapping

import pandas as pd

from mqperf.pages.report.words import amount, joined
from mqperf.study.tables import Tables

UNKNOWN, DIFFERS = "cannot tell", "differs"

LIMITS: Mapping[str, str] = {
    "tester": "the load generators",
    "host": "a full host",
    "broker": "a broker node",
    "network": "the network",
    "none": "nothing that CPU and network show",
}
"""Kind of verdict -> what a reader is told."""


def of_points(tables: Tables) -> pd.Series:
    """The one verdict on all repeats of a point, or ``differs``; its index is the point."""
    own = tables["bottlenecks"].groupby("point")["bottleneck"]
    return own.min().where(own.min() == own.max(), DIFFERS)


def known(limits: pd.Series) -> bool:
    """Whether anybody can be told for any point."""
    return bool(limits.dropna().ne(UNKNOWN).any())


def sentence(limits: pd.Series) -> str:
    """How many points had which bottleneck, from the verdicts of ``of_points``."""
    if not known(limits):
        return (
            "The bottleneck of the points cannot be told: CPU of brokers and load generators was"
            " not recorded together."
        )
    counted = limits.str.partition(":")[0].value_counts()
    parts = [f"{whom} in {counted[kind]}" for kind, whom in LIMITS.items() if kind in counted]
    others = {DIFFERS: "the repeats differ", UNKNOWN: "it cannot be told"}
    rest = [f"in {counted[kind]} {why}" for kind, why in others.items() if kind in counted]
    listing = "; ".join(filter(None, [joined(parts), *rest]))
    return f"Bottleneck of {amount(len(limits), 'point')}: {listing}."

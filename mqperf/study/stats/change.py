"""How much a figure changes from one point to another, with an interval where repeats allow one."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log, nan, sqrt
from typing import Any

import pandas as pd
from scipy import special

from mqperf.study.stats.summary import CONFIDENCE

Point = Mapping[Any, Any]
"""A row of the table ``points``."""


@dataclass(frozen=True, slots=True)
class Change:
    """A ratio less 1, and the ends of its 95 % interval; these are NaN where there is none."""

    change: float
    low: float = nan
    high: float = nan


def change(before: Point, after: Point, figure: str = "throughput_msg_s") -> Change:
    """From the figure of one point to that of another, both positive.

    The interval is Welch's, of the logarithms, with the errors of the two means by the delta
    method.  It needs two repeats on each side.
    """
    both = before, after
    ratio = float(after[figure]) / float(before[figure])
    repeated = [point["repeats"] > 1 and pd.notna(point[f"{figure}_sd"]) for point in both]
    if not all(repeated):
        return Change(ratio - 1)
    parts = [_relative(point, figure) for point in both]
    total = sum(variance for variance, _ in parts)
    if not total:
        return Change(ratio - 1, ratio - 1, ratio - 1)
    freedom = total**2 / sum(variance**2 / own for variance, own in parts)
    half = float(special.stdtrit(freedom, (1 + CONFIDENCE) / 2)) * sqrt(total)
    return Change(ratio - 1, exp(log(ratio) - half) - 1, exp(log(ratio) + half) - 1)


def _relative(point: Point, figure: str) -> tuple[float, int]:
    """The relative variance of the point's mean, and its degrees of freedom."""
    share, repeats = float(point[f"{figure}_sd"]) / float(point[figure]), int(point["repeats"])
    return share**2 / repeats, repeats - 1

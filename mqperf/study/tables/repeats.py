"""Aggregate the repeats of each point."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from mqperf.plan.columns import parameters
from mqperf.study.tables.axes import FACTORS, SWEEP

if TYPE_CHECKING:
    from pandas.api.typing import DataFrameGroupBy


def over_repeats(rows: pd.DataFrame, columns: Sequence[str], *by: str) -> pd.DataFrame:
    """The mean of the columns at each point, and for each value of ``by``.

    The result also has the columns that locate a point: sweep, threads, parameters.
    """
    return by_point(rows, *by)[list(columns)].mean()


def by_point(rows: pd.DataFrame, *by: str) -> "DataFrameGroupBy[Any, Any]":
    """The rows grouped by point and the values of ``by``; keys become columns."""
    names = dict.fromkeys((*SWEEP, "threads", *FACTORS, *parameters(), *by))
    keys = ["point", *(name for name in names if name in rows.columns)]
    return rows.groupby(keys, as_index=False, sort=False, dropna=False)

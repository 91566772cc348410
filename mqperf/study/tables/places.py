"""The order of the values of an axis, in tables, figures and sentences."""

import pandas as pd

from mqperf.plan.columns.parameters import OTHER_PARAMETERS
from mqperf.plan.driver import SET

CONDITION = "condition"
"""The parameter whose values are names of conditions, which fix other parameters."""

GENERATOR = "generator"
"""The parameter whose values, load generators, have parameters of their own."""

NAMED = (GENERATOR, CONDITION, SET)
"""The parameters whose values are names for several other parameters together."""


def in_place(values: pd.Series) -> pd.Series:
    """The sort keys of an axis: numbers as they are, names by the row of their first occurrence.

    Tables have their rows in the order of the plan, so names sort as in the plan.
    """
    column = OTHER_PARAMETERS.get(str(values.name))
    if values.name not in {GENERATOR, SET} and (column is None or column.dtype != "string"):
        return values
    ranks = {value: rank for rank, value in enumerate(values.dropna().unique())}
    return values.map(ranks).astype("float64")

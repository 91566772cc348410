"""In which order the values of an axis stand, in tables, on axes and in sentences."""

import pandas as pd

from mqperf.plan.columns.parameters import FURTHER
from mqperf.plan.driver import SET

CONDITION = "condition"
"""The parameter whose values have names that say what is the matter, and tell others."""

GENERATOR = "generator"
"""That whose values have parameters of their own."""

NAMED = (GENERATOR, CONDITION, SET)
"""Those whose values are names for several other parameters together."""


def in_place(values: pd.Series) -> pd.Series:
    """What the values of an axis are sorted by: themselves, and names of plans by first rows.

    Tables that are read have these in the order of the plan.
    """
    column = FURTHER.get(str(values.name))
    if values.name not in {GENERATOR, SET} and (column is None or column.dtype != "string"):
        return values
    places = {value: place for place, value in enumerate(values.dropna().unique())}
    return values.map(places).astype("float64")

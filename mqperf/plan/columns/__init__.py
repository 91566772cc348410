"""The register of columns and tables: every number has one, and every one has an owner.

A column says its type, the unit it is stored in, how a person reads it, and what its values must
satisfy.  Axis titles, report headings and the data dictionary are read from here.
"""

from mqperf.plan.columns.column import Check, Column
from mqperf.plan.columns.computed import FIGURES, WITHIN
from mqperf.plan.columns.happened import (
    ACTION_PHASES,
    BACKGROUND,
    COST,
    LINK_TOLD,
    OUTAGES,
    REFUSALS,
    measured_column,
)
from mqperf.plan.columns.internals import INSIDES
from mqperf.plan.columns.measured import COUNTS
from mqperf.plan.columns.register import COLUMNS, parameters
from mqperf.plan.columns.runs import LINK, VERSIONS
from mqperf.plan.columns.tables import COMPUTED, TABLES, Table

__all__ = [
    "ACTION_PHASES",
    "BACKGROUND",
    "COLUMNS",
    "COMPUTED",
    "COST",
    "COUNTS",
    "FIGURES",
    "INSIDES",
    "LINK",
    "LINK_TOLD",
    "OUTAGES",
    "REFUSALS",
    "TABLES",
    "VERSIONS",
    "WITHIN",
    "Check",
    "Column",
    "Table",
    "measured_column",
    "parameters",
]

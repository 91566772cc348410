"""The register of columns and tables: every number has one, and every one has an owner.

A column says its type, the unit it is stored in, how a person reads it, and what its values must
satisfy.  Axis titles, report headings and the data dictionary are read from here.
"""

from mqperf.columns.column import Check, Column
from mqperf.columns.computed import FIGURES, WITHIN
from mqperf.columns.happened import BACKGROUND, OUTAGES, measured_column
from mqperf.columns.measured import COUNTS
from mqperf.columns.register import COLUMNS, parameters
from mqperf.columns.runs import LINK
from mqperf.columns.tables import COMPUTED, TABLES, Table

__all__ = [
    "BACKGROUND",
    "COLUMNS",
    "COMPUTED",
    "COUNTS",
    "FIGURES",
    "LINK",
    "OUTAGES",
    "TABLES",
    "WITHIN",
    "Check",
    "Column",
    "Table",
    "measured_column",
    "parameters",
]

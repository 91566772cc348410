"""Columns and tables: every number has a column, and every column a table, or a key of a plan.

A column defines its type, storage unit, display unit, and the check that its values must pass.
Axis titles, report headings and the data dictionary are generated from these definitions.
"""

from mqperf.plan.columns.column import (
    Check,
    Column,
    count,
    latency,
    number,
    seconds,
    share,
    text,
)
from mqperf.plan.columns.computed import FIGURES
from mqperf.plan.columns.happened import (
    ACTION_PHASES,
    BACKGROUND,
    COST,
    LINK_COLUMNS,
    OUTAGES,
    REFUSALS,
    measured_column,
)
from mqperf.plan.columns.measured import COUNTS, FEW
from mqperf.plan.columns.parameters import (
    BYTES,
    MESSAGE_RATE,
    MILLISECONDS,
    SECONDS,
    TIMES,
    parameters,
)
from mqperf.plan.columns.runs import LINK, OF_SYSTEM, VERSIONS
from mqperf.plan.columns.table import Table
from mqperf.plan.columns.tables import COLUMNS, COMPUTED, TABLES

__all__ = [
    "ACTION_PHASES",
    "BACKGROUND",
    "BYTES",
    "COLUMNS",
    "COMPUTED",
    "COST",
    "COUNTS",
    "FEW",
    "FIGURES",
    "LINK",
    "LINK_COLUMNS",
    "MESSAGE_RATE",
    "MILLISECONDS",
    "OF_SYSTEM",
    "OUTAGES",
    "REFUSALS",
    "SECONDS",
    "TABLES",
    "TIMES",
    "VERSIONS",
    "Check",
    "Column",
    "Table",
    "count",
    "latency",
    "measured_column",
    "number",
    "parameters",
    "seconds",
    "share",
    "text",
]

"""Every column by its name; each has one owner."""

from mqperf.base.registry import Registry
from mqperf.plan.columns.column import Column
from mqperf.plan.columns.computed import (
    BOTTLENECKS,
    COMPARISON,
    CONDITIONS,
    DIFFERENCES,
    FIGURES,
    POINTS,
    SATURATION_POINTS,
    SATURATION_RATES,
    SEARCHED,
    SEARCHES,
    SUSTAINED,
    SUSTAINED_COMPARED,
    WITHIN,
    spread,
    within,
)
from mqperf.plan.columns.happened import (
    ACTION_PHASES_COLUMNS,
    BACKGROUND_COLUMNS,
    DOUBTS,
    EVENTS,
    LINKS,
    OUTAGES_COLUMNS,
    OUTCOMES,
    STEPS,
)
from mqperf.plan.columns.hosts import HOSTS
from mqperf.plan.columns.internals import INSIDES, INTERNALS
from mqperf.plan.columns.measured import CPU, INTERVALS, LATENCY, MESSAGES, NETWORK, PERCENTILES
from mqperf.plan.columns.runs import CONDITION, KEYS, LINK, PARAMETERS, RUNS
from mqperf.plan.columns.trend import FOLDER, FOLDERS, STEP, STEPS_OF_TREND, SUSTAINED_STEP


def register(*groups: tuple[Column, ...]) -> dict[str, Column]:
    """The columns by name; raises ``ValueError`` where two of one name differ in type or unit."""
    columns: dict[str, Column] = {}
    for column in (column for group in groups for column in group):
        known = columns.setdefault(column.name, column)
        if known.dtype != column.dtype or known.unit != column.unit:
            raise ValueError(f"column {column.name} has two owners")
    return columns


MEASURED = register(MESSAGES, LATENCY, POINTS)
SPREADS = tuple(extra for name in FIGURES for extra in spread(MEASURED[name]))
WITHINS = tuple(extra for name in WITHIN for extra in within(MEASURED[name]))

_OWN = register(
    KEYS,
    RUNS,
    PARAMETERS,
    CONDITION,
    LINK,
    LINKS,
    MESSAGES,
    LATENCY,
    PERCENTILES,
    INTERVALS,
    CPU,
    NETWORK,
    HOSTS,
    EVENTS,
    OUTAGES_COLUMNS,
    BACKGROUND_COLUMNS,
    STEPS,
    OUTCOMES,
    ACTION_PHASES_COLUMNS,
    POINTS,
    SPREADS,
    WITHINS,
    SATURATION_POINTS,
    SATURATION_RATES,
    SEARCHED,
    SEARCHES,
    SUSTAINED,
    SUSTAINED_COMPARED,
    BOTTLENECKS,
    CONDITIONS,
    COMPARISON,
    DIFFERENCES,
    FOLDER,
    FOLDERS,
    STEP,
    STEPS_OF_TREND,
    SUSTAINED_STEP,
    DOUBTS,
    INTERNALS,
    INSIDES,
)

COLUMNS = Registry("columns", _OWN.values())
"""Every column by its name; packages add those of their own parameters."""


def parameters() -> tuple[str, ...]:
    """The names of all columns that hold what plans may vary beside the number of threads."""
    return tuple(name for name, column in COLUMNS.items() if column.parameter)

"""Every table: what a row is, and its columns in order."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from mqperf.columns.column import Column
from mqperf.columns.computed import (
    BOTTLENECKS,
    COMPARISON,
    DIFFERENCES,
    FIGURES,
    SATURATION_POINTS,
    WITHIN,
    spread,
    within,
)
from mqperf.columns.happened import (
    BACKGROUND,
    BACKGROUND_COLUMNS,
    DOUBTS,
    EVENTS,
    LINKS,
    OUTAGES_COLUMNS,
)
from mqperf.columns.hosts import HOSTS
from mqperf.columns.measured import CPU, INTERVALS, LATENCY, MESSAGES, NETWORK
from mqperf.columns.register import COLUMNS, MEASURED, parameters
from mqperf.columns.runs import KEYS, LINK, RUNS, THREADS


@dataclass(frozen=True, slots=True)
class Table:
    """One table: what a row is, and the columns that it always has, in order.

    ``own`` has the meanings of columns which other tables have by the same name, too.  A ``swept``
    table has further parameters as well, those for which its rows have values.
    """

    name: str
    row: str
    columns: tuple[str, ...]
    own: Mapping[str, str]
    swept: bool = False

    def with_parameters(self, given: Iterable[str]) -> tuple[str, ...]:
        """The columns of such a table, when rows are given with these."""
        others = {*given} - {*self.columns} if self.swept else ()
        return (*self.columns, *(name for name in parameters() if name in others))

    def meaning(self, column: str) -> str:
        """What the column means in this table."""
        return self.own.get(column, COLUMNS[column].meaning)


def _table(
    name: str,
    row: str,
    keys: tuple[Column, ...],
    own: tuple[str, ...],
    meanings: tuple[Column, ...] = (),
) -> Table:
    own_meanings = {column.name: column.meaning for column in meanings}
    return Table(name, row, tuple(column.name for column in keys) + own, own_meanings)


def _swept(of: Table) -> Table:
    return replace(of, swept=True)


def _names(columns: tuple[Column, ...]) -> tuple[str, ...]:
    return tuple(column.name for column in columns)


def _with_intervals(columns: tuple[Column, ...]) -> tuple[str, ...]:
    """The names, each figure's followed by those of its interval from within the run."""
    return tuple(
        name
        for own in _names(columns)
        for name in (own, *(_names(within(MEASURED[own])) if own in WITHIN else ()))
    )


_SWEEP_KEYS = KEYS[2:6]
_POINT_KEYS = KEYS[1:-1]
_MEANS = tuple(
    replace(MEASURED[name], meaning=f"Mean over the whole runs. {MEASURED[name].meaning}")
    for name in FIGURES
)
_SATURATION_PROCESSES = replace(
    next(column for column in RUNS if column.name == "processes"),
    meaning="Client processes on each host, where the sweep has a curve for each number of them.",
)
_POINT_FIGURES = tuple(
    name for figure in FIGURES for name in (figure, *(c.name for c in spread(MEASURED[figure])))
)

TABLES: Mapping[str, Table] = {
    table.name: table
    for table in (
        _swept(_table("runs", "an attempt at a case", KEYS, _names(RUNS))),
        _table("planned", "a run that the plan of the folder asks for", KEYS, ("control_run",)),
        _table("messages", "a run", KEYS, _with_intervals(MESSAGES)),
        _table(
            "intervals",
            "a stream of a process in one second",
            KEYS,
            _names(INTERVALS),
            INTERVALS,
        ),
        _table("latency", "a run and stream", KEYS, _with_intervals(LATENCY)),
        _swept(
            _table(
                "control_runs",
                "an attempt at a control run, with its messages and latency",
                KEYS,
                _names(RUNS) + _with_intervals(MESSAGES) + _with_intervals(LATENCY)[1:],
            )
        ),
        _table("cpu", "a process in one interval, or over the window", KEYS, _names(CPU), CPU),
        _table(
            "network",
            "a network interface of a host, over the window",
            KEYS,
            ("host", *_names(NETWORK)),
        ),
        _table("events", "something that happened in a run", KEYS, _names(EVENTS), EVENTS),
        _table("outages", "an action in a run", KEYS, _names(OUTAGES_COLUMNS)),
        _table(
            "background",
            "a background load of a run",
            KEYS,
            (
                *_names(BACKGROUND_COLUMNS),
                *BACKGROUND[1:],
                "latency_uncertainty_s",
                *("duplicates", "foreign", "causality_violations", "reordered", "disagreements"),
            ),
        ),
        _table("hosts", "a host of a run, and its clock", KEYS, _names(HOSTS), HOSTS),
        _table("links", "the link of a run, as asked and as measured", KEYS, _names(LINK + LINKS)),
        _swept(
            _table(
                "points",
                "a point of the sweep over its repeats",
                _POINT_KEYS,
                ("green_threads", "processes", "hosts", "repeats", "failed", *_POINT_FIGURES),
                _MEANS,
            )
        ),
        _table("doubts", "a reason to distrust a run's numbers", KEYS, _names(DOUBTS), DOUBTS),
        _table("bottlenecks", "a run, and its bottleneck", KEYS, _names(BOTTLENECKS)),
        _swept(
            _table(
                "saturation_points",
                "a sweep of threads, and where it saturates",
                _SWEEP_KEYS,
                ("processes", *_names(SATURATION_POINTS)),
                (*SATURATION_POINTS, _SATURATION_PROCESSES),
            )
        ),
        _swept(
            _table(
                "comparison",
                "a figure of a point, in two sets of runs",
                (*_SWEEP_KEYS, THREADS),
                _names(COMPARISON),
            )
        ),
        _table("differences", "what two sets of runs differ in", (), _names(DIFFERENCES)),
    )
}

COMPUTED = (
    *("points", "doubts", "saturation_points", "bottlenecks", "control_runs"),
    *("comparison", "differences"),
)
"""The tables that are computed from the others; those are read from run folders."""

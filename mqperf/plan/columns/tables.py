"""The registries of all tables and of all columns."""

from collections.abc import Iterator, Mapping
from functools import cached_property

from typing_extensions import override

from mqperf.base.errors import PluginError
from mqperf.base.registry import LateMapping, Registry
from mqperf.plan.columns import computed, happened, measured
from mqperf.plan.columns.column import Column, count, text
from mqperf.plan.columns.computed import MEASURED, means, with_intervals, with_prefix
from mqperf.plan.columns.parameters import OTHER_PARAMETERS, parameter_columns
from mqperf.plan.columns.runs import CONDITION, KEY_COLUMNS, LINK, RUNS, THREADS
from mqperf.plan.columns.table import Table

_SWEEP = KEY_COLUMNS[2:6]
_CURVE = (*_SWEEP, THREADS)
_POINT = KEY_COLUMNS[1:-1]


_READ = (
    Table("runs", "an attempt at a case", RUNS, swept=True),
    Table(
        "planned",
        "a run that the plan of the folder asks for",
        ("control_run", CONDITION, *computed.CONDITIONS, *computed.SEARCHED),
    ),
    Table("messages", "a run", with_intervals(measured.MESSAGES)),
    Table("intervals", "a stream of a process in one second", measured.INTERVALS, by_second=True),
    Table("latency", "a run and stream", with_intervals(measured.LATENCY)),
    Table(
        "percentiles",
        "a percentile of the latencies of a run",
        ("stream", "samples", *measured.LEVELS),
    ),
    Table("cpu", "a process in one interval, or over the window", measured.CPU, by_second=True),
    Table("network", "a network interface of a host, over the window", ("host", *measured.NETWORK)),
    Table("memory", "a host, over the window", ("host", *measured.MEMORY)),
    Table("rate_steps", "a step of the offered rate within a run", happened.RATE_STEPS),
    Table("events", "something that happened in a run", happened.EVENTS),
    Table("outages", "an action in a run", happened.OUTAGES_COLUMNS),
    Table(
        "action_phases",
        "the time before, during or after an action in a run",
        ("action", "node", *happened.ACTION_PHASES_COLUMNS),
    ),
    Table(
        "background",
        "a background load of a run",
        (
            *happened.BACKGROUND_COLUMNS,
            *happened.BACKGROUND[1:],
            *("latency_uncertainty_s", "send_rate_msg_s", "offered_rate_msg_s", "deliveries"),
            *("duplicates", "foreign", "causality_violations", "reordered", "disagreements"),
        ),
    ),
    Table("hosts", "a host of a run, and its clock", measured.HOSTS),
    Table("links", "the link of a run, as planned and as measured", (*LINK, *happened.LINKS)),
)
"""Tables that are read from run folders."""

_COMPUTED = (
    Table(
        "control_runs",
        "an attempt at a control run, with its messages and latency",
        (*RUNS, *with_intervals(measured.MESSAGES), *with_intervals(measured.LATENCY)[1:]),
        swept=True,
    ),
    Table(
        "points",
        "a point of the sweep over its repeats",
        ("green_threads", "processes", "hosts", "repeats", "failed", *means(*computed.FIGURES)),
        keys=_POINT,
        swept=True,
    ),
    Table("doubts", "a reason to distrust a run's numbers", happened.DOUBTS),
    Table("bottlenecks", "a run, and its bottleneck", computed.BOTTLENECKS),
    Table(
        "saturation_points",
        "a sweep of threads, and where it saturates",
        (
            Column(
                "processes",
                "Int64",
                "Client processes on each host, where the sweep has a curve for each number of"
                " them.",
            ),
            *computed.SATURATION_POINTS,
        ),
        keys=_SWEEP,
        swept=True,
    ),
    Table(
        "saturation_rates",
        "a sweep of offered rates, and where it saturates",
        computed.SATURATION_RATES,
        keys=_CURVE,
        swept=True,
    ),
    Table(
        "searches",
        "a search for the highest rate at which a condition holds",
        (
            "search_place",
            CONDITION,
            text("point", "The point at the rate that holds."),
            *computed.SEARCHES[:-1],
            count("repeats", "Whole runs at the rate that holds.", unit=""),
            *with_prefix(computed.FOLLOWED, "At the rate that holds, mean over its repeats."),
            text("limit", "The bottleneck at the rate that does not hold."),
            text("doubted", "Kinds of doubts about the point at the rate that holds."),
            *computed.SEARCHES[-1:],
        ),
        keys=_CURVE,
        swept=True,
    ),
    Table(
        "sustained",
        "a test case on one layout, and the throughput that is sustained",
        ("point", *computed.SUSTAINED),
        keys=_SWEEP,
    ),
    Table(
        "sustained_compared",
        "a test case on one layout, and the sustained throughput in two sets of runs",
        ("value_a", "value_b", "ratio", *computed.SUSTAINED_COMPARED),
        keys=_SWEEP,
    ),
    Table(
        "comparison",
        "a figure of a point, in two sets of runs",
        computed.COMPARISON,
        keys=_CURVE,
        swept=True,
    ),
    Table(
        "factors",
        "a figure of a point under a condition (B), and under the first condition (A)",
        (CONDITION, "published_factor", *computed.COMPARISON),
        keys=_CURVE,
        swept=True,
    ),
    Table("differences", "what two sets of runs differ in", computed.DIFFERENCES, keys=()),
)

COMPUTED = tuple(table.name for table in _COMPUTED)
"""Built-in tables that are computed from the tables read from run folders."""

TABLES = Registry("tables", (*_READ, *_COMPUTED))
"""Every table by its name: built-in ones, and those of generators, probes and packages."""


class Columns(LateMapping[Column]):
    """Every column by its name: parameters, and the columns of all tables.

    Of several tables with a column the first defines it; only its meaning may differ.  Raises
    ``PluginError`` where two differ in type or unit.
    """

    @cached_property
    @override
    def _values(self) -> dict[str, Column]:
        columns = {key.name: key for key in KEY_COLUMNS}
        for owner, own_columns in self._owners():
            for column in own_columns:
                earlier = columns.setdefault(column.name, column)
                if earlier.dtype != column.dtype or earlier.unit != column.unit:
                    raise PluginError(
                        f"{owner} has the column {column.name} as {column.dtype} in"
                        f" {column.unit!r}, another has it as {earlier.dtype} in {earlier.unit!r}:"
                        " give it another name"
                    )
        return columns

    @staticmethod
    def _owners() -> Iterator[tuple[str, tuple[Column, ...]]]:
        yield "a load", tuple(parameter_columns().values())
        yield "a setting", tuple(OTHER_PARAMETERS.values())
        yield "a figure", tuple(MEASURED.values())
        for table in TABLES.values():
            columns = (column for column in (*table.keys, *table.own) if isinstance(column, Column))
            yield f"table {table.name}", tuple(columns)


COLUMNS: Mapping[str, Column] = Columns()
"""Every column by its name: type, unit, and how a person reads it."""

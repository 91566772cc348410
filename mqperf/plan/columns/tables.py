"""Every table: what a row is, and its columns in order."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from mqperf.plan.columns.column import Column, count, latency, text
from mqperf.plan.columns.computed import (
    BOTTLENECKS,
    COMPARISON,
    CONDITIONS,
    DIFFERENCES,
    FIGURES,
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
    ACTION_PHASES,
    ACTION_PHASES_COLUMNS,
    BACKGROUND,
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
from mqperf.plan.columns.measured import (
    CPU,
    FEW,
    INTERVALS,
    LATENCY,
    MESSAGES,
    NETWORK,
    PERCENTILES,
)
from mqperf.plan.columns.register import COLUMNS, MEASURED, parameters
from mqperf.plan.columns.runs import CONDITION, KEYS, LINK, RUNS, THREADS
from mqperf.plan.columns.trend import FOLDER, FOLDERS, STEP, STEPS_OF_TREND, SUSTAINED_STEP


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

_TREND_FIGURES = tuple(
    f"{figure}{end}"
    for figure in ("throughput_msg_s", "latency_p50_s", "latency_p99_s")
    for end in ("", "_sd", "_low", "_high")
)

TABLES: Mapping[str, Table] = {
    table.name: table
    for table in (
        _swept(_table("runs", "an attempt at a case", KEYS, _names(RUNS))),
        _table(
            "planned",
            "a run that the plan of the folder asks for",
            KEYS,
            ("control_run", *_names(CONDITION), *_names(CONDITIONS), *_names(SEARCHED)),
        ),
        _table("messages", "a run", KEYS, _with_intervals(MESSAGES)),
        _table(
            "intervals",
            "a stream of a process in one second",
            KEYS,
            _names(INTERVALS),
            INTERVALS,
        ),
        _table("latency", "a run and stream", KEYS, _with_intervals(LATENCY)),
        _table(
            "percentiles",
            "a percentile of the latencies of a run",
            KEYS,
            ("stream", "samples", *_names(PERCENTILES)),
        ),
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
        _table(
            "internals",
            "a figure of the inside of a node at an instant",
            KEYS,
            _names(INTERNALS),
            INTERNALS,
        ),
        _table(
            "insides",
            "a node of a run, and what it told of its inside over the window",
            KEYS,
            _names(INSIDES),
            INSIDES,
        ),
        _table("events", "something that happened in a run", KEYS, _names(EVENTS), EVENTS),
        _table("outages", "an action in a run", KEYS, _names(OUTAGES_COLUMNS)),
        _table(
            "action_phases",
            "the time before, during or after an action in a run",
            KEYS,
            ACTION_PHASES,
            ACTION_PHASES_COLUMNS,
        ),
        _table(
            "background",
            "a background load of a run",
            KEYS,
            (
                *_names(BACKGROUND_COLUMNS),
                *BACKGROUND[1:],
                "latency_uncertainty_s",
                "send_rate_msg_s",
                "offered_rate_msg_s",
                *(
                    "deliveries",
                    "duplicates",
                    "foreign",
                    "causality_violations",
                    "reordered",
                    "disagreements",
                ),
            ),
        ),
        _table(
            "steps",
            "a step of what the test case does, in a run",
            KEYS,
            (
                *_names(STEPS[:-1]),
                *("samples", "latency_mean_s", "latency_p95_s", "latency_uncertainty_s"),
                *("creation_share", "errors"),
            ),
            (
                count("samples", "Creations that took it: those started in the window, finished."),
                latency("latency_mean_s", "From its sending until the chain went on.", ""),
                latency("latency_p95_s", f"95th percentile of the same. {FEW}", ""),
                latency(
                    "latency_uncertainty_s",
                    "By how much the clocks of two hosts may make it wrong, either way; 0 where"
                    " one clock took both instants.",
                    "",
                ),
                count("errors", "Creations started in the window that got no further."),
            ),
        ),
        _table(
            "outcomes",
            "a client process of AMQP 1.0 in a run, where receivers settle messages",
            KEYS,
            ("process", "sent", *_names(OUTCOMES)),
            (count("sent", "Messages that it handed over: the sum of all outcomes."),),
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
                "saturation_rates",
                "a sweep of offered rates, and where it saturates",
                (*_SWEEP_KEYS, THREADS),
                _names(SATURATION_RATES),
            )
        ),
        _swept(
            _table(
                "searches",
                "a search for the highest rate at which a condition holds",
                (*_SWEEP_KEYS, THREADS),
                (
                    *("search_place", *_names(CONDITION), "point", *_names(SEARCHES[:-1])),
                    *("repeats", "throughput_msg_s", "throughput_msg_s_low"),
                    *("throughput_msg_s_high", "latency_p50_s", "latency_p99_s"),
                    *("limit", "doubted", "text"),
                ),
                (
                    count("repeats", "Whole runs at the rate that holds.", unit=""),
                    text("point", "The point at the rate that holds."),
                    text("limit", "The bottleneck at the rate that does not hold."),
                    text("doubted", "Kinds of doubts about the point at the rate that holds."),
                    *(
                        replace(
                            MEASURED[name],
                            meaning="At the rate that holds, mean over its repeats."
                            f" {MEASURED[name].meaning}",
                        )
                        for name in ("throughput_msg_s", "latency_p50_s", "latency_p99_s")
                    ),
                ),
            )
        ),
        _table(
            "sustained",
            "a test case on one layout, and the throughput that is sustained",
            _SWEEP_KEYS,
            ("point", *_names(SUSTAINED)),
        ),
        _table(
            "sustained_compared",
            "a test case on one layout, and the sustained throughput in two sets of runs",
            _SWEEP_KEYS,
            ("value_a", "value_b", "ratio", *_names(SUSTAINED_COMPARED)),
        ),
        _swept(
            _table(
                "comparison",
                "a figure of a point, in two sets of runs",
                (*_SWEEP_KEYS, THREADS),
                _names(COMPARISON),
            )
        ),
        _swept(
            _table(
                "factors",
                "a figure of a point under a condition (B), and under the first condition (A)",
                (*_SWEEP_KEYS, THREADS),
                (*_names(CONDITION), "published_factor", *_names(COMPARISON)),
            )
        ),
        _table("differences", "what two sets of runs differ in", (), _names(DIFFERENCES)),
        _table(
            "trend_folders",
            "a folder of a trend, in the order of time",
            FOLDER,
            (
                *("started", "mqperf_version", "system_version", "runtime_version"),
                *("generator_version", *_names(FOLDERS)),
            ),
            (text("started", "Start of the first run."),),
        ),
        _swept(
            _table(
                "trend_points",
                "a point of the sweep over its repeats, in a folder of a trend",
                (*FOLDER, *_POINT_KEYS),
                ("repeats", *_TREND_FIGURES, "doubted"),
                (*_MEANS, text("doubted", "Kinds of doubts about the point in this folder.")),
            )
        ),
        _swept(
            _table(
                "trend_steps",
                "a figure of a point, from a folder of a trend (A) to the next on one machine (B)",
                (*FOLDER[1:2], *STEP, *_SWEEP_KEYS, THREADS),
                _names(COMPARISON) + _names(STEPS_OF_TREND),
                (Column("folder_place", "Int64", "Place in time of B."),),
            )
        ),
        _swept(
            _table(
                "trend_control_runs",
                "a figure of control runs, from a folder of a trend (A) to the next (B)",
                (*FOLDER[1:2], *STEP, *_SWEEP_KEYS, THREADS),
                _names(COMPARISON),
                (Column("folder_place", "Int64", "Place in time of B."),),
            )
        ),
        _swept(
            _table(
                "trend_sustained",
                "a test case on one layout in a folder of a trend, and what is sustained",
                (*FOLDER, *_SWEEP_KEYS),
                (
                    *("point", "threads", *_names(SUSTAINED), *_TREND_FIGURES),
                    *("ratio", *_names(SUSTAINED_STEP)),
                ),
                (
                    text("point", "The point that sustains it."),
                    *_MEANS,
                    Column(
                        "ratio",
                        "float64",
                        "Sustained throughput by that of the folder before, at the same point.",
                    ),
                    *SUSTAINED_STEP,
                ),
            )
        ),
        _table(
            "trend_differences",
            "what two folders of a trend differ in beside the days",
            (*FOLDER[1:2], *STEP),
            _names(DIFFERENCES),
            (Column("folder_place", "Int64", "Place in time of B."),),
        ),
    )
}

COMPUTED = (
    *("points", "doubts", "saturation_points", "saturation_rates", "sustained", "bottlenecks"),
    *("control_runs", "searches"),
    *("comparison", "sustained_compared", "factors", "differences"),
    *("trend_folders", "trend_points", "trend_steps", "trend_control_runs", "trend_sustained"),
    "trend_differences",
)
"""The tables that are computed from the others; those are read from run folders."""

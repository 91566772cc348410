"""The tables of a trend, whose rows ``study.trends`` computes."""

from mqperf.plan.columns import Column, Table, computed, text
from mqperf.plan.columns.computed import FOLLOWED, means
from mqperf.plan.columns.runs import KEY_COLUMNS, THREADS
from mqperf_trend.plan import columns

_SWEEP = KEY_COLUMNS[2:6]
_CURVE = (*_SWEEP, THREADS)
_POINT = KEY_COLUMNS[1:-1]
_PLACE_OF_B = Column("folder_place", "Int64", "Place in time of B.")

FOLDERS = Table(
    "trend_folders",
    "a folder of a trend, in the order of time",
    (
        Column("started", "datetime64[us, UTC]", "Start of the first run."),
        *("mqperf_version", "system_version", "runtime_version", "generator_version"),
        *columns.FOLDERS,
    ),
    keys=columns.FOLDER,
    of_folders=True,
)

POINTS = Table(
    "trend_points",
    "a point of the sweep over its repeats, in a folder of a trend",
    (
        "repeats",
        *means(*FOLLOWED),
        text("doubted", "Kinds of doubts about the point in this folder."),
    ),
    keys=(*columns.FOLDER, *_POINT),
    swept=True,
    of_folders=True,
)

STEPS = Table(
    "trend_steps",
    "a figure of a point, from its reference (A) to a folder of a trend (B), on one machine",
    (*computed.COMPARISON, *columns.STEPS_OF_TREND),
    keys=(_PLACE_OF_B, *columns.STEP, *_CURVE),
    swept=True,
    of_folders=True,
)

CONTROL_RUNS = Table(
    "trend_control_runs",
    "a figure of control runs, from its reference (A) to a folder of a trend (B)",
    computed.COMPARISON,
    keys=(_PLACE_OF_B, *columns.STEP, *_CURVE),
    swept=True,
    of_folders=True,
)

SUSTAINED = Table(
    "trend_sustained",
    "a test case on one layout in a folder of a trend, and what is sustained",
    (
        text("point", "The point that sustains it."),
        "threads",
        *computed.SUSTAINED,
        *means(*FOLLOWED),
        Column(
            "ratio",
            "float64",
            "Sustained throughput / that of the folder before, at the same point.",
        ),
        *columns.SUSTAINED_STEP,
    ),
    keys=(*columns.FOLDER, *_SWEEP),
    swept=True,
    of_folders=True,
)

DIFFERENCES = Table(
    "trend_differences",
    "what two folders of a trend differ in beside the days",
    computed.DIFFERENCES,
    keys=(_PLACE_OF_B, *columns.STEP),
    of_folders=True,
)

"""Read run folders, or the tables of a published report, as tidy frames.

Every frame has exactly the columns defined in ``columns.TABLES``.  Reading needs nothing but the
folder: no broker, no network, no other machine.
"""

from mqperf.study.tables.axes import (
    arranged,
    curves,
    in_curves,
    over_repeats,
    split,
    tidy,
    varied,
    with_parameters,
)
from mqperf.study.tables.axis_words import at
from mqperf.study.tables.batches import of_runs
from mqperf.study.tables.control_runs import all_attempts, control_runs_apart
from mqperf.study.tables.files import read, title, write
from mqperf.study.tables.latency_map import latency_map
from mqperf.study.tables.planned import conditions, plan_of
from mqperf.study.tables.shape import (
    Selection,
    Tables,
    completed,
    conform,
    empty,
    of_plan,
    of_points,
    once,
    outside_plan,
    select,
    where,
)

__all__ = [
    "Selection",
    "Tables",
    "all_attempts",
    "arranged",
    "at",
    "completed",
    "conditions",
    "conform",
    "control_runs_apart",
    "curves",
    "empty",
    "in_curves",
    "latency_map",
    "of_plan",
    "of_points",
    "of_runs",
    "once",
    "outside_plan",
    "over_repeats",
    "plan_of",
    "read",
    "select",
    "split",
    "tidy",
    "title",
    "varied",
    "where",
    "with_parameters",
    "write",
]

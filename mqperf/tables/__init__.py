"""Run folders, or the tables of a published report, as tidy frames.

Every frame has exactly the columns that ``columns.TABLES`` promises.  Reading needs nothing but the
folder: no broker, no network, no other machine.
"""

from mqperf.tables.files import of_runs, read, title, write
from mqperf.tables.shape import (
    Tables,
    conform,
    control_runs,
    empty,
    of_plan,
    outside_plan,
    select,
    told_by_processes,
    with_processes,
    without_control_runs,
)
from mqperf.tables.shown import shown

__all__ = [
    "Tables",
    "conform",
    "control_runs",
    "empty",
    "of_plan",
    "of_runs",
    "outside_plan",
    "read",
    "select",
    "shown",
    "title",
    "told_by_processes",
    "with_processes",
    "without_control_runs",
    "write",
]

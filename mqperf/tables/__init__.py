"""Run folders, or the tables of a published report, as tidy frames.

Every frame has exactly the columns that ``columns.TABLES`` promises.  Reading needs nothing but the
folder: no broker, no network, no other machine.
"""

from mqperf.tables.files import of_runs, read, title, write
from mqperf.tables.shape import (
    Tables,
    conform,
    empty,
    of_plan,
    outside_plan,
    select,
    sentinels,
    told_by_processes,
    with_processes,
    without_sentinels,
)
from mqperf.tables.shown import shown

__all__ = [
    "Tables",
    "conform",
    "empty",
    "of_plan",
    "of_runs",
    "outside_plan",
    "read",
    "select",
    "sentinels",
    "shown",
    "title",
    "told_by_processes",
    "with_processes",
    "without_sentinels",
    "write",
]

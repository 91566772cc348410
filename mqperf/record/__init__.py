"""The record: run folders on disk, the only interface between measuring and reading.

A runs folder holds ``plan.yaml`` and one folder per attempt at a case.  The name of a folder shows
its state: ``<case-id>`` is whole, ``<case-id>.partial`` is being written, ``<case-id>.failed-N`` is
an attempt that failed, ``<case-id>.interrupted-N`` one that was cut off, both kept as evidence.
A single rename finishes a run, so even after a power failure it is either whole or not there.
"""

from mqperf.record.events import Event, read_events
from mqperf.record.facts import AllSent, Facts, HostFacts, MeasuredLink, SystemFacts
from mqperf.record.folder import FACTS, PLAN, Run, Status, pending, runs
from mqperf.record.instants import CLOCK_STEP_LIMIT_S, clock_was_set, utc
from mqperf.record.whole import Whole, as_whole, background_place, beside
from mqperf.record.writing import Attempt, disk_errors, holder, recording, set_aside

__all__ = [
    "CLOCK_STEP_LIMIT_S",
    "FACTS",
    "PLAN",
    "AllSent",
    "Attempt",
    "Event",
    "Facts",
    "HostFacts",
    "MeasuredLink",
    "Run",
    "Status",
    "SystemFacts",
    "Whole",
    "as_whole",
    "background_place",
    "beside",
    "clock_was_set",
    "disk_errors",
    "holder",
    "pending",
    "read_events",
    "recording",
    "runs",
    "set_aside",
    "utc",
]

"""Processes and folders of ours which end with us, however we end.

Both halves of mqperf start processes and make temporary folders; this is the one way to do so.
"""

from mqperf.base.processes.forks import shared_out
from mqperf.base.processes.process import ForeignProcess, Process, run, start, usual_variables
from mqperf.onhost.processes.scratch import scratch, scratch_beside

__all__ = [
    "ForeignProcess",
    "Process",
    "run",
    "scratch",
    "scratch_beside",
    "shared_out",
    "start",
    "usual_variables",
]

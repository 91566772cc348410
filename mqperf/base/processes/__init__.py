"""Child processes and temporary folders that end with this process, however it ends.

All parts of mqperf start processes and make temporary folders only this way.
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

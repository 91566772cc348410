"""Processes and folders of ours which end with us, however we end.

Both halves of mqperf start processes and make temporary folders; this is the one way to do so.
"""

from mqperf.guarded.process import ForeignProcess, Process, run, start, stop_all

__all__ = ["ForeignProcess", "Process", "run", "start", "stop_all"]

"""The probe of waits: what processes of a run waited for, and which processes of a node worked."""

from mqperf.lab.probes import Probe, Program, Task, recorder
from mqperf_diagnosis.record.waits_log import LOG, check

PROGRAM = "mqperf_diagnosis.onhost.sampler"


def program(task: Task) -> Program:
    """Start the sampler."""
    return recorder(task, PROGRAM, LOG)


PROBE = Probe("waits", program=program, check=check)

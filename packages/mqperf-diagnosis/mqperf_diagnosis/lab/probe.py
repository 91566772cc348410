"""The probe of waits: what processes of a run waited for, and which Erlang processes were busy."""

from mqperf.lab.probes import Probe, Program, Task, recorder
from mqperf_diagnosis.record.waits_log import LOG, check

PROGRAM = "mqperf_diagnosis.onhost.sampler"


def program(task: Task) -> Program:
    """The sampler to start."""
    return recorder(task, PROGRAM, LOG)


PROBE = Probe("waits", program=program, check=check)

"""The probe of flame graphs: in which functions nodes and load generators use their CPU."""

from mqperf.lab.probes import Probe, Program, Task, recorder
from mqperf_flame.lab.named import prepared
from mqperf_flame.onhost.recorder import WATCHED
from mqperf_flame.record.recorded import check

PROGRAM = "mqperf_flame.onhost.recorder"


def program(task: Task) -> Program | None:
    """Return the recorder's start; None on a host without processes to profile."""
    if not any(target.kind in WATCHED for target in task.targets):
        return None
    return recorder(task, PROGRAM)


PROBE = Probe("flame", program=program, check=check, prepared=prepared)

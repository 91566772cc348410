"""The probe of flame graphs: in which functions nodes and load generators use their CPU."""

import json
from dataclasses import asdict

from mqperf.hosts.software import ALONE, path_of, plain_variables
from mqperf.lab.probes import Probe, Program, Task, options
from mqperf_flame.lab.named import prepared
from mqperf_flame.onhost.recorder import WATCHED
from mqperf_flame.record.recorded import check

PROGRAM = "mqperf_flame.onhost.recorder"
TARGETS = "flame.targets"


def program(task: Task) -> Program | None:
    """Start the recorder, which waits for the start file; None where there is nobody to look at."""
    machine = task.machine
    if not any(target.kind in WATCHED for target in task.targets):
        return None
    argv = (machine.python, *ALONE, "-m", PROGRAM, *options(task, TARGETS))
    env = {**plain_variables(path_of(PROGRAM, machine)), "PATH": machine.path}
    targets = json.dumps([asdict(target) for target in task.targets])
    return Program(argv, env, {TARGETS: targets})


PROBE = Probe("flame", program=program, check=check, prepared=prepared)

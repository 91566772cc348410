"""The probe of waits: what processes of a run waited for, and which processes of a node worked."""

import json
from dataclasses import asdict

from mqperf.hosts.software import ALONE, path_of, plain_variables
from mqperf.lab.probes import Probe, Program, Task, options
from mqperf_diagnosis.record.waits_log import LOG, check

PROGRAM = "mqperf_diagnosis.onhost.sampler"
TARGETS = "waits.targets"


def program(task: Task) -> Program:
    """Start the sampler, which waits for the start file and stops by itself."""
    machine = task.machine
    argv = (machine.python, *ALONE, "-m", PROGRAM, *options(task, TARGETS, LOG))
    targets = json.dumps([asdict(target) for target in task.targets])
    return Program(argv, plain_variables(path_of(PROGRAM, machine)), {TARGETS: targets})


PROBE = Probe("waits", program=program, check=check)

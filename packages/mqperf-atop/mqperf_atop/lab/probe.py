"""The atop probe: a second record of the CPU of the processes of a run, by another program."""

import json
from dataclasses import asdict
from pathlib import Path

from mqperf.hosts.software import ALONE, programs
from mqperf.lab.probes import Probe, Program, Task, options
from mqperf.lab.tool import Tool
from mqperf_atop.record.recorded import recorded

PACKAGE = "mqperf_atop"
PROGRAM = f"{PACKAGE}.onhost.recorder"
TARGETS = "atop.targets"
TOOL = Tool("atop", "atop", packages=("atop",), services=("atop", "atopacct", "atop-rotate.timer"))


def program(task: Task) -> Program:
    """Start the recorder, which waits for the start file and stops by itself.

    atop must not switch the kernel's process accounting on, which outlives it: ``ATOPACCT``.
    """
    machine = task.machine
    argv = (machine.python, *ALONE, "-m", PROGRAM, *options(task, TARGETS))
    targets = json.dumps([asdict(target) for target in task.targets])
    env = {
        "LANG": "C.UTF-8",
        "PATH": machine.path,
        "PYTHONPATH": str(machine.copied(programs(PACKAGE))),
        "ATOPACCT": "",
    }
    return Program(argv, env, {TARGETS: targets})


def check(folder: Path, _host: str) -> None:
    """Raise ``ProbeError`` unless the folder of a host holds a sound record."""
    recorded(folder)


PROBE = Probe(name="atop", program=program, check=check, tools=(TOOL,))

"""The atop probe: a second record of the CPU of the processes of a run, by another program."""

from pathlib import Path

from mqperf.lab.probes import Probe, Program, Task, recorder
from mqperf.lab.tool import Tool
from mqperf_atop.record.recorded import recorded

PROGRAM = "mqperf_atop.onhost.recorder"
TOOL = Tool("atop", "atop", packages=("atop",), services=("atop", "atopacct", "atop-rotate.timer"))


def program(task: Task) -> Program:
    """Return the recorder as a program."""
    return recorder(task, PROGRAM)


def check(folder: Path, _host: str) -> None:
    """Raise ``ProbeError`` unless the folder of a host has a valid record."""
    recorded(folder)


PROBE = Probe(name="atop", program=program, check=check, tools=(TOOL,))

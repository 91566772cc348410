"""The psutil probe: CPU and memory of every process, traffic of every interface, each second."""

from pathlib import Path

import psutil

from mqperf.hosts.software import Machine, here, packages, programs
from mqperf.lab.probes.probe import Probe, Program, Task, recorder
from mqperf.record import CLOCK_STEP_LIMIT_S, clock_was_set
from mqperf.record.logs import psutil_log

PROGRAM = "mqperf.onhost.probes.psutil_sampler"
LOCK = Path(__file__).with_name("locks") / "psutil.txt"


def program(task: Task) -> Program:
    """Return the command; raises ``InstallError`` when psutil cannot be installed for the host."""
    machine = task.machine
    path = (machine.copied(programs()), machine.copied(_psutil(machine)).parent)
    return recorder(task, PROGRAM, psutil_log.LOG, path=path)


def _psutil(machine: Machine) -> Path:
    """Return psutil: that of our own Python if the host can use it, else a build for the host."""
    if machine.platform.takes_what_is_built_on(here()):
        return Path(psutil.__file__).parent
    return packages(f"The library psutil for {machine.name}", LOCK, machine.platform) / "psutil"


def check(folder: Path, host: str) -> None:
    """Raise ``ProbeError`` for a log that is not sound, ``HostError`` when the clock was set."""
    step = psutil_log.clock_step_s(psutil_log.samples(folder / psutil_log.LOG))
    if abs(step) > CLOCK_STEP_LIMIT_S:
        raise clock_was_set(host, step)


PROBE = Probe(
    name="psutil",
    program=program,
    check=check,
    always=True,
    now=(psutil_log.LOG, psutil_log.cores_now),
)

"""A probe: the time on the host when the load starts, with a table of its own."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mqperf.base.errors import ProbeError
from mqperf.lab.probes import Probe, Program, Task
from mqperf.plan.columns import Table, seconds
from mqperf.record import Facts
from mqperf.study.probes import ProbeReader

if TYPE_CHECKING:
    from mqperf.study.tables.of_run import Reading

LOG = "toy-clock.txt"
CODE = """
import json, pathlib, sys, time
control, log = map(pathlib.Path, sys.argv[1:3])
(control / f"{sys.argv[4]}.ready").touch()
while not (control / "start").exists():
    time.sleep(0.05)
start = json.loads((control / "start").read_text())["start"]
time.sleep(max(0, start - time.time()))
log.write_text(str(time.time()))
time.sleep(float(sys.argv[3]))
"""


def program(task: Task) -> Program:
    """Report ready, wait for the start, record its time, and run until the load ends."""
    arguments = (str(task.control), str(task.out / LOG), str(task.seconds), task.label)
    return Program((task.machine.python, "-I", "-c", CODE, *arguments), env={})


def check(folder: Path, host: str) -> None:
    """Raise ``ProbeError`` if it wrote nothing."""
    if not (folder / LOG).exists():
        raise ProbeError(f"{folder / LOG}: the clock of host {host} was not read")


def events(run: Path, _facts: Facts) -> Iterator[dict[str, Any]]:
    """One row per host."""
    for log in sorted(run.glob(f"probes/*/{LOG}")):
        at = float(log.read_text())
        yield {"time_s": at, "host": log.parent.name, "what": "toy-clock", "detail": None}


def rows(reading: "Reading") -> Iterator[dict[str, Any]]:
    """One row per host."""
    for event in events(reading.run.run.path, reading.run.facts):
        yield {"host": event["host"], "toy_clock_s": event["time_s"] - reading.run.window[0]}


PROBE = Probe("toy-clock", program=program, check=check)
READER = ProbeReader("toy-clock", events=events)
TABLE = Table(
    name="toy_clock",
    row="a host of a run, and the time of its clock at the start of the load",
    own=("host", seconds("toy_clock_s", "Since the start of the window.", "toy clock")),
    rows=rows,
)

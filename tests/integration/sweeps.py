"""What tests of sweeps share: their plans, and faults that strike processes of a sweep."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
from typing_extensions import override

from mqperf.lab.runner import Silent
from mqperf.plan import Case, Plan
from mqperf.plan.file import parse_plan
from mqperf.record import runs

PLAN = """\
systems:
  rabbitmq:
    topologies: [cs1ss2]
    queues: [classic]
test_cases: [rpc-call, rpc-cast, notify]
load:
  green_threads: [5]
  pause_s: 0.05
  duration_s: 3
  warmup_s: 1
"""
SEVERAL = """\
systems:
  rabbitmq:
    topologies: [cmsm]
    queues: [classic]
  zeromq:
    topologies: [direct]
    queues: [none]
test_cases: [rpc-call]
load: {green_threads: [1], pause_s: 0.02, duration_s: 2, warmup_s: 1}
"""
LONGER = PLAN.replace("duration_s: 3", "duration_s: 6")
"""So that what is to be struck in its window is found in time on a busy machine."""

ONE = LONGER.replace("rpc-call, rpc-cast, notify", "rpc-call")
TWO = LONGER.replace("rpc-call, rpc-cast, notify", "rpc-call, rpc-cast")


def lasting(seconds: int) -> str:
    """The plan of one test case, with a window that an action fits in."""
    text = ONE.replace("duration_s: 6", f"duration_s: {seconds}")
    assert text != ONE
    return text


def alone(text: str) -> str:
    """The same plan with a single broker, for what a cluster adds nothing to."""
    return text.replace("[cs1ss2]", "[single]")


def plan(text: str) -> Plan:
    """The plan of a text."""
    return parse_plan(text, Path("test.yaml"))


class Fault(Silent):
    """Signals one process after the other, in each case the next one when it comes to a phase.

    ``told`` is what it was told.
    """

    def __init__(
        self,
        *choose: Callable[[], int],
        number: signal.Signals = signal.SIGKILL,
        phase: str = "measuring",
    ) -> None:
        self.victims = iter(choose)
        self.number, self.phase = number, phase
        self.told: list[str] = []

    @override
    def doing(self, what: str, case: Case | None = None) -> None:
        self.told.append(what)
        if what == self.phase and (choose := next(self.victims, None)):
            self.strike(choose())

    def strike(self, pid: int) -> None:
        os.kill(pid, self.number)


def newest(wanted: Callable[[psutil.Process], bool]) -> int:
    """The pid of a process below us; of several clusters, in the one that was started last."""
    processes = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # it has just ended of itself
            if wanted(process):
                processes.append(process)
    return max(processes, key=psutil.Process.create_time).pid


def node(name: str = "mqperf3@localhost") -> int:
    """The pid of a node, by default that to which servers are connected, Slave 2."""
    return newest(lambda p: p.name() == "beam.smp" and p.environ().get("RABBITMQ_NODENAME") == name)


def statuses(folder: Path) -> list[str]:
    """The status of every attempt."""
    return [run.status for run in runs(folder)]

"""What tests of sweeps share: plans, and faults that hit processes of a sweep."""

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
"""With a longer window, so that a fault hits it in time on a busy machine."""

ONE = LONGER.replace("rpc-call, rpc-cast, notify", "rpc-call")
TWO = LONGER.replace("rpc-call, rpc-cast, notify", "rpc-call, rpc-cast")


def with_window(seconds: int) -> str:
    """A plan with one test case and a window that is long enough for an action."""
    text = ONE.replace("duration_s: 6", f"duration_s: {seconds}")
    assert text != ONE
    return text


def single_broker(text: str) -> str:
    """The same plan with a single broker, for tests that need no cluster."""
    return text.replace("[cs1ss2]", "[single]")


def plan(text: str) -> Plan:
    """Parse the text of a plan."""
    return parse_plan(text, Path("test.yaml"))


class Fault(Silent):
    """Sends a signal to one process per case, when the case enters the phase.

    ``reports`` lists the reports that it received.
    """

    def __init__(
        self,
        *find_pid: Callable[[], int],
        number: signal.Signals = signal.SIGKILL,
        phase: str = "measuring",
    ) -> None:
        self.victims = iter(find_pid)
        self.number, self.phase = number, phase
        self.reports: list[str] = []

    @override
    def doing(self, what: str, case: Case | None = None) -> None:
        self.reports.append(what)
        if what == self.phase and (find_pid := next(self.victims, None)):
            self.strike(find_pid())

    def strike(self, pid: int) -> None:
        os.kill(pid, self.number)


def newest(matches: Callable[[psutil.Process], bool]) -> int:
    """The pid of a process below this one; of several matches, the one started last."""
    processes = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):  # it has just ended
            if matches(process):
                processes.append(process)
    return max(processes, key=psutil.Process.create_time).pid


def node(name: str = "mqperf3@localhost") -> int:
    """The pid of a node, by default of Slave 2, to which servers are connected.

    Once a minute each node starts an Erlang VM with its own environment, which ends at once
    (``rabbit_epmd_monitor``).
    """

    def is_node(process: psutil.Process) -> bool:
        is_named = process.environ().get("RABBITMQ_NODENAME") == name
        is_starter = any(word.startswith("epmd-starter") for word in process.cmdline())
        return process.name() == "beam.smp" and is_named and not is_starter

    return newest(is_node)


def statuses(folder: Path) -> list[str]:
    """The status of every attempt."""
    return [run.status for run in runs(folder)]

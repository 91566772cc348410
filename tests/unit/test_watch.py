"""Monitoring during a run: what is a fault, and what is not."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Timer
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import psutil
import pytest

from mqperf.base.errors import HostError, SystemFault
from mqperf.base.processes import ForeignProcess, Process
from mqperf.hosts import LocalHost
from mqperf.lab.runner import watch
from mqperf.lab.runner.watch import Clock, FreezeMonitor
from mqperf.lab.systems.system import Node

pytestmark = pytest.mark.starts_programs

if TYPE_CHECKING:
    from mqperf.lab.systems import Deployment


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Process]:
    process = LocalHost().start("node", ["sleep", "60"], log=tmp_path / "log")
    yield process
    process.stop(5)


def stillness(process: Process | ForeignProcess | None) -> FreezeMonitor:
    nodes = (Node("Slave 2", "mqperf3", process), Node("Slave 3", "elsewhere", None))
    return FreezeMonitor(cast("Deployment", SimpleNamespace(nodes=nodes)))


def until(true: Callable[[], bool]) -> None:
    limit = time.monotonic() + 20
    while not true():
        assert time.monotonic() < limit
        time.sleep(0.01)


def test_a_frozen_node_fails_with_its_name(node: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the node that stays frozen, and what to do."""
    monkeypatch.setattr(watch, "FROZEN_PATIENCE_S", 0.1)
    still = stillness(node)
    node.signal(signal.SIGSTOP)
    until(lambda: node.frozen)
    with pytest.raises(SystemFault, match=r"^Slave 2 \(mqperf3\) is frozen: .*; repeat"):
        still.check()


def test_a_short_pause_is_forgiven_and_kept(node: Process) -> None:
    """A node that continues is no failure, but the pause is recorded."""
    foreign = ForeignProcess("node", node.pid, psutil.Process(node.pid).create_time())
    still = stillness(foreign)
    os.kill(node.pid, signal.SIGSTOP)
    until(lambda: foreign.frozen)
    assert still.look() == ["Slave 2 (mqperf3)"]
    Timer(0.2, os.kill, (node.pid, signal.SIGCONT)).start()
    still.check()
    [(first, last)] = still.seen.values()
    assert first <= last


def test_a_node_that_was_started_again_is_watched_as_it_is_now(node: Process) -> None:
    """The monitor follows its new process."""
    ended = ForeignProcess("node", 2**22 + 1, 0.0)  # above any pid
    deployment = SimpleNamespace(nodes=(Node("Slave 2", "mqperf3", ended),))
    still = FreezeMonitor(cast("Deployment", deployment))
    assert still.look() == []
    deployment.nodes = (Node("Slave 2", "mqperf3", node),)
    node.signal(signal.SIGSTOP)
    until(lambda: node.frozen)
    assert still.look() == ["Slave 2 (mqperf3)"]


def test_nodes_that_run_are_not_accused(node: Process) -> None:
    """A node that sleeps, works, has ended or cannot be seen is not frozen."""
    still = stillness(node)
    still.check()
    node.stop(5)
    assert (still.look(), stillness(None).look(), still.seen) == ([], [], {})


def test_a_set_clock_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error has the host and the amount, not a consequence."""
    now = 1_700_000_000.0
    monkeypatch.setattr(time, "monotonic", lambda: 50.0)
    for step_s in (30.0, -30.0):
        monkeypatch.setattr(time, "time", lambda: now)
        clock = Clock("local")
        monkeypatch.setattr(time, "time", lambda step_s=step_s: now + step_s)
        with pytest.raises(HostError, match=rf"clock of host local was set by \{step_s:+.0f}\.0"):
            clock.check()


def test_a_late_reading_is_no_set_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine two clocks may be read half a second apart."""
    clock, real = Clock("local"), time.time

    def late() -> float:
        now = real()
        time.sleep(0.3)
        return now

    monkeypatch.setattr(time, "time", late)
    clock.check()

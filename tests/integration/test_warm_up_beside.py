"""A run warms up while the previous run is being collected, which ends before its window."""

import time
from pathlib import Path

import pytest
from sweeps import plan, statuses
from typing_extensions import override

from mqperf.lab.runner import Silent, sweep
from mqperf.plan import Case
from mqperf.record import Run, runs

pytestmark = pytest.mark.needs_redis

PLAN = """\
systems: {zeromq: {topologies: [direct], queues: [none]}}
test_cases: [rpc-call]
load: {green_threads: [1], pause_s: 0.01, duration_s: 2, warmup_s: 1, cooldown_s: 4}
repeats: 3
"""
"""The cool-down is long enough for the next run to get ready, even on a busy machine."""


class FinishRecorder(Silent):
    """Records when each run is finished, and takes this long for the first one."""

    def __init__(self, first_takes_s: float = 0.0) -> None:
        self.first_takes_s = first_takes_s
        self.finished_at: list[float] = []

    @override
    def finished(self, case: Case, run: Run, failure: str | None) -> None:
        time.sleep(0.0 if self.finished_at else self.first_takes_s)
        self.finished_at.append(time.time())


def windows(folder: Path) -> list[float]:
    """The start of each run's window, sorted."""
    return sorted(facts.window.start for run in runs(folder) if (facts := run.facts()).window)


def test_a_window_begins_when_the_run_before_is_over(tmp_path: Path) -> None:
    """The previous run is sealed and reported first, whenever the load started."""
    watcher = FinishRecorder()
    sweep(plan(PLAN), PLAN, tmp_path, watcher)
    assert statuses(tmp_path) == ["done"] * 3
    finished, began = watcher.finished_at, windows(tmp_path)
    assert began[0] < finished[0] < began[1] < finished[1] < began[2] < finished[2]


def test_a_run_whose_window_would_be_disturbed_is_restarted(tmp_path: Path) -> None:
    """The previous run takes longer than any before it; all runs succeed."""
    watcher = FinishRecorder(first_takes_s=6.0)
    sweep(plan(PLAN), PLAN, tmp_path, watcher)
    assert statuses(tmp_path) == ["done"] * 3
    first, second, _ = windows(tmp_path)
    assert first < watcher.finished_at[0] < second - 1

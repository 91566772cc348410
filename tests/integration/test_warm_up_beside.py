"""A run warms up while the one before is brought home, whose end is no part of its window."""

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
"""With a cool-down in which the processes of the next run get ready on a busy machine, too."""


class Watcher(Silent):
    """Notes when it is told of a run, and takes so many seconds over the first."""

    def __init__(self, first_takes_s: float = 0.0) -> None:
        self.first_takes_s = first_takes_s
        self.told: list[float] = []

    @override
    def finished(self, case: Case, run: Run, failure: str | None) -> None:
        time.sleep(0.0 if self.told else self.first_takes_s)
        self.told.append(time.time())


def windows(folder: Path) -> list[float]:
    """When the window of each run began, in this order."""
    return sorted(facts.window.start for run in runs(folder) if (facts := run.facts()).window)


def test_a_window_begins_when_the_run_before_is_over(tmp_path: Path) -> None:
    """It is sealed and told, whenever its load started."""
    watcher = Watcher()
    sweep(plan(PLAN), PLAN, tmp_path, watcher)
    assert statuses(tmp_path) == ["done"] * 3
    over, began = watcher.told, windows(tmp_path)
    assert began[0] < over[0] < began[1] < over[1] < began[2] < over[2]


def test_a_run_whose_window_would_be_disturbed_is_begun_again(tmp_path: Path) -> None:
    """Here as the one before takes longer than any before it; all are whole."""
    watcher = Watcher(first_takes_s=6.0)
    sweep(plan(PLAN), PLAN, tmp_path, watcher)
    assert statuses(tmp_path) == ["done"] * 3
    first, second, _ = windows(tmp_path)
    assert first < watcher.told[0] < second - 1

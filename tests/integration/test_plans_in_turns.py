"""Two plans in turns with a real Redis: order of the runs, an interruption, the comparison."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mqperf.front.status import status
from mqperf.record import runs
from mqperf.study import stats, tables

pytestmark = pytest.mark.needs_redis

MQPERF = str(Path(sys.executable).with_name("mqperf"))
PLAN = """\
systems:
  zeromq: {topologies: [direct], queues: [none]}
test_cases: [rpc-call]
load: {green_threads: [1], pause_s: 0.01, duration_s: 2, warmup_s: 1}
repeats: 2
"""
IN_TURNS = ["a-1", "b-1", "b-2", "a-2"]


def finished_runs(folder: Path) -> list[str]:
    """Plan and repeat of every successful run, in the order in which they started."""
    started = []
    for name in ("a", "b"):
        for run in runs(folder / name) if (folder / name).exists() else ():
            if run.status == "done":
                facts = run.facts()
                assert facts.case is not None
                started.append((facts.started, f"{name}-{facts.case.repeat}"))
    return [which for _, which in sorted(started)]


def test_plans_in_turns(tmp_path: Path) -> None:
    """Repeats alternate, also after an interruption, and nothing is missing."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(PLAN)
    command = [MQPERF, "run", "a.yaml", "b.yaml", "--interleave", "--runs", "runs"]
    folder = tmp_path / "runs"
    env = {**os.environ, "PYTHONFAULTHANDLER": "1"}
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, env=env) as first:
        try:
            limit = time.monotonic() + 240
            while len(finished_runs(folder)) < 2:
                assert time.monotonic() < limit, "waited in vain"
                assert first.poll() is None
                time.sleep(0.5)
            first.send_signal(signal.SIGINT)
            assert first.wait(timeout=180) == 130
        finally:
            first.send_signal(signal.SIGABRT)  # if it hangs, it prints where
    done = finished_runs(folder)
    assert done == IN_TURNS[: len(done)]
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert f"{len(done)} done already, {4 - len(done)} to run" in again.stdout
    assert finished_runs(folder) == IN_TURNS
    sides = []
    for name in ("a", "b"):
        assert (folder / name / "plan.yaml").read_text() == PLAN
        assert status(folder / name).splitlines()[-1].startswith("2 done, ")
        sides.append(stats.complete(tables.read(folder / name)))
        doubts = set(sides[-1]["doubts"]["kind"])
        assert not doubts & {"missing-run", "not-of-plan", "overlapping-runs", "failed-run"}
    compared = stats.compared(*sides)["comparison"]
    rates = compared[compared["figure"] == "throughput_msg_s"]  # which every run has
    assert set(rates["in_turns"]) == {"in turns"}
    printed = subprocess.run(
        [MQPERF, "compare", "runs/a", "runs/b", "--min-effect", "0"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "turns" not in printed.stdout

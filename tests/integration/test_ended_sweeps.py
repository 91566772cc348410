"""Sweeps that are killed or interrupted: nothing is left behind, and the same command resumes."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from patience import eventually
from sweeps import TWO, single_broker, statuses

from mqperf.record import runs
from mqperf.study import tables

pytestmark = pytest.mark.needs_rabbitmq

MQPERF = [str(Path(sys.executable).with_name("mqperf")), "run"]


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    """The command that runs two cases of the plan."""
    (tmp_path / "plan.yaml").write_text(single_broker(TWO))
    return [*MQPERF, str(tmp_path / "plan.yaml"), "--runs", str(tmp_path / "runs")]


@pytest.fixture
def running(command: list[str], tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A separate mqperf that is measuring its first case."""
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as p:
        assert eventually(lambda: any(_events(tmp_path, "start")), 240)
        time.sleep(1)
        yield p
        p.kill()


def test_after_a_kill_the_same_command_completes(
    running: subprocess.Popen[str], command: list[str], tmp_path: Path
) -> None:
    """A second mqperf on the same folder is refused; SIGKILL of the first leaves no process.

    The same command then measures only what is missing.
    """
    second = subprocess.run(command, capture_output=True, text=True, check=False)
    assert second.returncode == 2
    assert "another mqperf is measuring into this folder" in second.stderr
    family = psutil.Process(running.pid).children(recursive=True)
    assert len(family) > 5
    running.kill()
    running.wait()
    assert eventually(lambda: not any(map(_alive, family)))
    done_before = {run.id for run in runs(tmp_path / "runs") if run.status == "done"}
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"{2 - len(done_before)} to run" in again.stdout
    whole = [run for run in runs(tmp_path / "runs") if run.status == "done"]
    assert len(whole) == 2
    assert statuses(tmp_path / "runs").count("interrupted") >= 1
    assert "failed" not in statuses(tmp_path / "runs")
    frames = tables.read(tmp_path / "runs")
    assert len(frames["messages"]) == 2


def test_an_interrupt_ends_everything(running: subprocess.Popen[str], tmp_path: Path) -> None:
    """Ctrl-C stops everything, records the attempt as interrupted, and sets the exit code."""
    family = psutil.Process(running.pid).children(recursive=True)
    running.send_signal(signal.SIGINT)
    assert running.wait(timeout=240) == 130
    assert eventually(lambda: not any(map(_alive, family)))
    assert set(statuses(tmp_path / "runs")) <= {"done", "interrupted"}


def _events(folder: Path, what: str) -> Iterator[Path]:
    for file in (folder / "runs").glob("*/events.jsonl"):
        if f'"what": "{what}"' in file.read_text():
            yield file


def _alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False

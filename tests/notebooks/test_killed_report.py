"""A killed report leaves no files and no processes."""

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from patience import eventually

MQPERF = str(Path(sys.executable).with_name("mqperf"))


def is_alive(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def is_kernel(process: psutil.Process) -> bool:
    return "ipykernel_launcher" in process.cmdline()


def is_worker(process: psutil.Process) -> bool:
    """Whether it is a forked worker of the command, which draws figures."""
    return "--no-notebooks" in process.cmdline()


@pytest.mark.parametrize(
    ("option", "reached"), [("--notebooks", is_kernel), ("--no-notebooks", is_worker)]
)
def test_a_killed_report_leaves_nothing(
    root: Path, tmp_path: Path, option: str, reached: Callable[[psutil.Process], bool]
) -> None:
    """SIGKILL during notebooks or drawing leaves no process and no folder, hidden ones included."""
    runs, out, scratch = root / "data/samples/runs", tmp_path / "out", tmp_path / "scratch"
    scratch.mkdir()
    argv = [MQPERF, "report", str(runs), "--out", str(out), option]
    family: dict[int, psutil.Process] = {}

    def begun() -> bool:
        has_begun = False
        for process in psutil.Process(report.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                family[process.pid] = process
                has_begun = has_begun or reached(process)
        return has_begun

    with subprocess.Popen(argv, env={**os.environ, "TMPDIR": str(scratch)}) as report:
        assert eventually(begun, 300)
        report.kill()
    assert eventually(lambda: not any(map(is_alive, family.values())))
    assert eventually(lambda: list(scratch.glob("mqperf-*/*")) == [])
    assert [path.name for path in tmp_path.iterdir()] == ["scratch"]

"""Sweeps in the background: the state of one that runs, has ended, failed or was killed."""

import os
from pathlib import Path
from typing import Any

import psutil
import pytest
from patience import eventually

import mqperf
from mqperf.base.errors import MqperfError, RecordError
from mqperf.record import holder, recording
from mqperf_notebook.front import processes
from mqperf_notebook.front.api import Sweep, attach, start, stop
from mqperf_notebook.front.explore import explore
from mqperf_notebook.record.sweep_files import SweepFiles

RECORDED = "data/samples/inside/rabbitmq"

UNREACHABLE = """\
systems:
  rabbitmq:
    topologies: [cmsm]
    settings: {nodes: [127.0.0.1], urls: ["amqp://perf:${WORD_OF_A_TEST}@127.0.0.1:9"]}
test_cases: [rpc-call]
load: {green_threads: 1, duration_s: 3}
"""


@pytest.fixture
def files(tmp_path: Path) -> SweepFiles:
    """The files of a successful sweep."""
    files = SweepFiles(tmp_path)
    with files.taken() as log:
        log.write(b"1 run recorded\n")
    files.end.write_text("")
    return files


def test_mqperf_has_the_functions_of_the_package() -> None:
    """``mqperf`` finds start, attach, stop and explore by their entry points."""
    given: Any = mqperf
    ours = (start, attach, stop, explore)
    assert (given.start, given.attach, given.stop, given.explore) == ours


def test_without_a_running_sweep_attach_gives_the_results(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line says that no sweep runs; nothing is written into the folder."""
    before = sorted((root / RECORDED).rglob("*"))
    assert len(attach(root / RECORDED).points)
    assert capsys.readouterr().out == f"{root / RECORDED}: no sweep is running\n"
    assert sorted((root / RECORDED).rglob("*")) == before


def test_a_folder_has_one_sweep_at_a_time(files: SweepFiles, tmp_path: Path) -> None:
    """The sweep holds the lock of its log: a second one is refused and changes nothing."""
    sweep = Sweep(tmp_path)
    assert not sweep.running
    with files.taken() as log:
        log.write(b"of the first")
        log.flush()
        assert sweep.running
        assert not files.end.exists()
        with pytest.raises(RecordError, match="a sweep is running already"), files.taken():
            pass
        with pytest.raises(MqperfError, match=r"running; mqperf.attach\('.*; end it where it was"):
            sweep.stop()
        with pytest.raises(MqperfError, match=r"mqperf\.stop"):
            start("plans/smoke.yaml", tmp_path)
    assert files.log.read_text() == "of the first"


def test_a_killed_sweep_is_recognised(files: SweepFiles, tmp_path: Path) -> None:
    """It is known by its lock and files, not by a pid, which may be another process's by then."""
    assert str(Sweep(tmp_path)) == f"{tmp_path}: no sweep is running"
    files.end.unlink()
    assert "the last one: it was killed, or the machine was restarted" in str(Sweep(tmp_path))
    with pytest.raises(MqperfError, match=r"it was killed, .* start it again for the rest"):
        Sweep(tmp_path).watch()


def test_a_foreground_sweep_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A foreground sweep is named with its process, and cannot be started or stopped elsewhere."""
    assert holder(tmp_path) == ""
    with recording(tmp_path, "plan"):
        who = f"process {os.getpid()}, since 2"
        assert holder(tmp_path).startswith(who)
        with (
            pytest.raises(RecordError, match=rf"folder \({who}.*\); wait"),
            recording(tmp_path, ""),
        ):
            pass
        with pytest.raises(MqperfError, match=f"measured now by {who}.*not in the background; end"):
            stop(tmp_path)
    assert holder(tmp_path) == ""
    stop(tmp_path)
    assert capsys.readouterr().out == f"{tmp_path}: no sweep is running\n"


def test_a_pipe_in_place_of_a_lock_is_not_waited_for(tmp_path: Path) -> None:
    """Named pipes in place of the lock and the log do not block."""
    os.mkfifo(tmp_path / ".lock")
    (tmp_path / ".sweep").mkdir()
    os.mkfifo(tmp_path / ".sweep/log")
    assert holder(tmp_path) == ""
    assert not Sweep(tmp_path).running


def test_without_a_folder_it_is_the_only_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless exactly one sweep runs, a folder is needed; the error names those that run."""
    for found, words in (((), "none is running"), (("a", "b"), "these run: a, b")):
        monkeypatch.setattr(processes, "running", lambda found=found: {Path(n): 0 for n in found})
        with pytest.raises(MqperfError, match=f"give the runs folder .*; {words}"):
            attach()


@pytest.mark.starts_programs
def test_a_failed_sweep_says_why_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The reason is shown while watching and later; the password is in no argument or file."""
    monkeypatch.setenv("WORD_OF_A_TEST", "secret-of-it")
    (tmp_path / "plan.yaml").write_text(UNREACHABLE)
    sweep = start(tmp_path / "plan.yaml", tmp_path / "runs")
    assert eventually(lambda: tmp_path / "runs" in processes.running())
    process = processes.running()[tmp_path / "runs"]
    assert "secret-of-it" not in " ".join(process.cmdline())
    assert process.pid == os.getsid(process.pid)
    reason = r"amqp://perf:\*\*\*@127.0.0.1:9: cannot be reached"
    with pytest.raises(MqperfError, match=reason):
        sweep.watch()
    assert "failed: rabbitmq cmsm classic, rpc-call, 1 thread: amqp" in capsys.readouterr().out
    assert "no sweep is running; the last one: amqp://perf:***@" in str(sweep)
    texts = [file.read_text() for file in (tmp_path / "runs").rglob("*") if file.is_file()]
    assert not any("secret-of-it" in text for text in texts)
    assert eventually(lambda: not psutil.pid_exists(process.pid))

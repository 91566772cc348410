"""Many runs, read in parallel and reduced, give the same tables as at once, and free their memory.

The samples are recorded runs, which are copied.
"""

import gc
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import psutil
import pytest
import samples

from mqperf.base.errors import TableError
from mqperf.record import runs
from mqperf.study import tables
from mqperf.study.stats.seconds import by_second, read_complete, write_complete
from mqperf.study.tables import batches

pytestmark = pytest.mark.starts_programs

ROOT = Path(__file__).parents[2]
SAMPLES = {"runs": "csv", "faults": "csv", "stress": "csv", "hosts": "parquet"}
"""Samples, and the format of their tables."""

TOGETHER = 2
"""Runs of a batch in these tests, so that few runs are several batches."""


@pytest.fixture
def many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Runs for three batches: copies of a recorded run with other names."""
    monkeypatch.setattr(batches, "TOGETHER", TOGETHER)
    folder = tmp_path / "runs"
    [first, *_] = [run.path for run in runs(ROOT / "data/samples/runs") if run.status == "done"]
    for number in range(3 * TOGETHER):
        shutil.copytree(first, folder / f"{first.name[:-8]}{number:08x}")
    return folder


@pytest.mark.parametrize(("sample", "form"), SAMPLES.items())
def test_reduced_runs_say_the_same(sample: str, form: str, tmp_path: Path) -> None:
    """All tables, doubts and files are the same with and without the rows of seconds."""
    folder = ROOT / "data/samples" / sample
    whole = samples.complete(folder)
    reduced, files = write_complete(folder, tmp_path / "parts", form)
    assert reduced.keys() == whole.keys()
    for name in whole.keys() - {*by_second()}:
        pd.testing.assert_frame_equal(reduced[name], whole[name])
    for file, other in zip(files, tables.write(whole, tmp_path / "whole", form), strict=True):
        assert file.name == other.name
        if form == "csv":
            assert file.read_bytes() == other.read_bytes()
        else:
            pd.testing.assert_frame_equal(pd.read_parquet(file), pd.read_parquet(other))
    assert sorted((tmp_path / "parts").iterdir()) == sorted(files)


def test_batches_say_what_one_process_says(
    many: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables are the same if runs are read on all cores or one after the other."""
    alone(SHARED, str(many), str(tmp_path / "shared"))
    shared = pickle.loads((tmp_path / "shared").read_bytes())  # noqa: S301 (written above)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0})
    one_by_one = tables.read(many)
    monkeypatch.setattr(batches, "TOGETHER", 1000)
    at_once = tables.read(many)
    for name in at_once:
        pd.testing.assert_frame_equal(shared[name], at_once[name])
        pd.testing.assert_frame_equal(one_by_one[name], at_once[name])


def test_unreadable_runs_among_many_are_named(many: Path) -> None:
    """Each has its reason; all other runs have their rows."""
    damaged = sorted(many.iterdir())[:: TOGETHER + 1]
    for run in damaged:
        (run / "run.json").write_text("{")
    frames = read_complete(many)
    unreadable = frames["doubts"].query("kind == 'unreadable-run'")["run"]
    assert set(unreadable) == {run.name for run in damaged}
    assert len(damaged) == 2
    assert len(frames["messages"]) == len(list(many.iterdir())) - len(damaged)


def test_many_that_cannot_be_read_are_one_error(many: Path, tmp_path: Path) -> None:
    """Without a readable run there is one line, and no output folder."""
    for run in many.iterdir():
        (run / "run.json").write_text("{")
    with pytest.raises(TableError, match=f"none of {3 * TOGETHER} runs can be read"):
        write_complete(many, tmp_path / "out", "csv")
    assert not (tmp_path / "out").exists()


def test_frames_of_earlier_batches_are_freed(many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames of earlier runs are freed before later runs are read."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0})
    alive: list[weakref.ref[pd.DataFrame]] = []
    most = []

    def watched(frames: tables.Tables) -> tables.Tables:
        gc.collect()
        most.append(sum(reference() is not None for reference in alive))
        alive.extend(weakref.ref(frames[name]) for name in by_second())
        return {"runs": frames["runs"]}

    batches.of_runs(runs(many), watched)
    assert most == [0, 0, 0]


def test_a_killed_fork_is_one_error() -> None:
    """If the kernel kills a fork for lack of memory, the error says so and all forks end."""
    assert alone(SPOILT, "killed") == "HostError: memory; 0 left\n"


def test_an_error_of_one_ends_the_others() -> None:
    """The error of an item is raised at once, without waiting for others."""
    assert alone(SPOILT, "refused") == "TableError: no 0; 0 left\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_interrupted_reading_leaves_no_process(number: signal.Signals, tmp_path: Path) -> None:
    """Ctrl-C, which all processes of a terminal get, gives one line and ends all forks."""
    process = subprocess.Popen(
        [sys.executable, "-c", BEGIN + READER, str(tmp_path)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        forks = _until_there(tmp_path, 2)
        if number is signal.SIGINT:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        output = process.communicate(timeout=60)[1]
    finally:
        process.kill()
    psutil.wait_procs(forks, timeout=60)
    assert not any(fork.is_running() for fork in forks)
    if number is not signal.SIGKILL:
        assert process.returncode == 130
        assert output == "mqperf: interrupted; the same command continues where it stopped\n"


def alone(program: str, *words: str) -> str:
    """The output of a program that has no threads, so that it may fork."""
    command = [sys.executable, "-c", BEGIN + program, *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=120, check=True)
    return done.stdout


BEGIN = """
import os, pickle, signal, sys, time
from pathlib import Path
import psutil
from mqperf.front import cli
from mqperf.base import processes
from mqperf.study import tables
from mqperf.base.errors import MqperfError, TableError
from mqperf.study.tables import batches

os.sched_getaffinity = lambda _pid: {0, 1}
"""

SHARED = """
batches.TOGETHER = 2
Path(sys.argv[2]).write_bytes(pickle.dumps(dict(tables.read(Path(sys.argv[1])))))
"""

SPOILT = """
def spoil(seconds):
    if sys.argv[1] == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if not seconds:
        raise TableError("no 0")
    time.sleep(seconds)

try:
    processes.shared_out(spoil, [0, 3600])
except MqperfError as error:
    words = "memory" if "memory" in str(error) else error
    print(f"{type(error).__name__}: {words}; {len(psutil.Process().children())} left")
"""

READER = """
from concurrent.futures import ProcessPoolExecutor

def shut_late(pool, *how, shutdown=ProcessPoolExecutor.shutdown, **options):
    time.sleep(0.5)  # the pool's thread notices that its processes are gone
    shutdown(pool, *how, **options)

ProcessPoolExecutor.shutdown = shut_late

def read(number):
    Path(sys.argv[1], str(os.getpid())).touch()
    time.sleep(3600)

cli.app = lambda: processes.shared_out(read, range(8))
cli.main()
"""


def _until_there(folder: Path, count: int) -> Sequence[psutil.Process]:
    """The working processes, once there are that many."""
    limit = time.monotonic() + 120
    while len(files := list(folder.iterdir())) < count:
        assert time.monotonic() < limit, "the forks did not begin"
        time.sleep(0.01)
    return [psutil.Process(int(file.name)) for file in files]

"""Guardians: no started process outlives its stop, its timeout or its owner."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest
from patience import eventually

from mqperf.base import processes
from mqperf.base.errors import HostError

pytestmark = pytest.mark.starts_programs

KINDS = {
    "plain": "exec sleep 4321",
    "with a grandchild": "sleep 4321 & sleep 4321",
    "deaf": "trap '' TERM HUP INT; sleep 4321 & while :; do sleep 1; done",
    "with a daemon": "setsid sh -c 'sleep 4321 & sleep 4321' & sleep 4321",
    "with a daemon of an orphan": "(setsid setsid sleep 4321 &) ; sleep 4321",
}
"""Shell programs that are hard to end."""


@contextmanager
def marked(folder: Path) -> Iterator[Callable[[], list[int]]]:
    """Yields a function that lists the living processes in a folder."""

    def living() -> list[int]:
        pids = []
        for process in psutil.process_iter():
            try:
                here = process.cwd() == str(folder)
                if here and process.status() != psutil.STATUS_ZOMBIE:
                    pids.append(process.pid)
            except psutil.Error:
                continue
        return pids

    try:
        yield living
    finally:
        for pid in living():
            with suppress(ProcessLookupError):  # already ended
                os.kill(pid, signal.SIGKILL)


@pytest.fixture
def living(tmp_path: Path) -> Iterator[Callable[[], list[int]]]:
    with marked(tmp_path) as pids:
        yield pids


def started(script: str, folder: Path) -> processes.Process:
    """A shell in the folder, whose log tells when it is up."""
    argv = ["sh", "-c", f"{script.replace('exec', 'echo up; exec')}"]
    return processes.start("shell", argv, env=None, log=folder / "log", cwd=folder)


def guardians(owner: int | None = None) -> list[psutil.Process]:
    """Guardians of an owner, by default this process: the main one, then one per program."""
    matching = []
    for process in psutil.Process(owner).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if any("guardian.py" in word for word in process.cmdline()):
                matching.append(process)
    return matching


def guardian_of(process: processes.Process) -> psutil.Process:
    """The guardian of a program."""
    parent = psutil.Process(process.pid).parent()
    assert parent is not None
    return parent


OWNER = """
    import sys, threading
    from pathlib import Path
    from mqperf.base import processes
    folder = Path(sys.argv[1])
    def begin():
        for script in sys.argv[2:]:
            argv = ["sh", "-c", script]
            started.append(processes.start("x", argv, env=None, log=folder / "log", cwd=folder))
    started = []
    thread = threading.Thread(target=begin)
    thread.start()
    thread.join()
    print("up", flush=True)
    sys.stdin.read()
"""


@contextmanager
def owner(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another Python with programs of all kinds, started by a thread that has ended."""
    argv = [sys.executable, "-c", textwrap.dedent(OWNER), str(folder), *KINDS.values()]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        try:
            assert p.stdout is not None
            assert p.stdout.readline() == "up\n"
            yield p
        finally:
            p.kill()


WHOLE = 11
"""The number of processes of all kinds together."""


def test_nothing_outlives_its_owner(tmp_path: Path, living: Callable[[], list[int]]) -> None:
    """SIGKILL of the owner ends all descendants; the end of the thread ended none."""
    with owner(tmp_path) as process:
        assert eventually(lambda: len(living()) >= WHOLE)
        watching = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        assert eventually(lambda: living() == [])
    assert eventually(lambda: not any(p.is_running() for p in watching))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("first", [True, False], ids=["first", "others"])
def test_a_lost_guardian_is_replaced(
    tmp_path: Path, living: Callable[[], list[int]], number: signal.Signals, *, first: bool
) -> None:
    """Even if guardians are killed or stopped before the owner, nothing is left."""
    with owner(tmp_path) as process:
        assert eventually(lambda: len(living()) >= WHOLE)
        all_guardians = guardians(process.pid)
        for guardian in all_guardians[:1] if first else all_guardians[1:]:
            guardian.send_signal(number)
        process.kill()
        assert eventually(lambda: living() == [])
        assert eventually(lambda: not any(p.is_running() for p in all_guardians))


def test_a_frozen_owner_keeps_its_programs(tmp_path: Path, living: Callable[[], list[int]]) -> None:
    """Stopping mqperf, for example with Ctrl-Z, ends nothing."""
    with owner(tmp_path) as process:
        assert eventually(lambda: len(living()) >= WHOLE)
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.3)
        assert len(living()) >= WHOLE


@pytest.mark.parametrize("kind", KINDS)
def test_what_takes_too_long_ends_with_all_it_started(
    tmp_path: Path, living: Callable[[], list[int]], kind: str
) -> None:
    """A command that timed out leaves no process."""
    with pytest.raises(HostError, match=r"sh -c did not end within 0\.5 s"):
        processes.run(["sh", "-c", KINDS[kind]], cwd=tmp_path, timeout_s=0.5)
    assert living() == []


def test_what_ends_leaves_nothing(tmp_path: Path, living: Callable[[], list[int]]) -> None:
    """A daemon that holds the output of an ended command is ended, too."""
    done = processes.run(
        ["sh", "-c", "setsid sleep 4321 & echo done; exit 3"], cwd=tmp_path, timeout_s=60
    )
    assert (done.returncode, done.stdout) == (3, "done\n")
    assert living() == []


@pytest.mark.parametrize("kind", KINDS)
def test_stop_leaves_nothing(tmp_path: Path, living: Callable[[], list[int]], kind: str) -> None:
    """A stopped program leaves no process."""
    process = started(KINDS[kind], tmp_path)
    assert eventually(lambda: len(living()) >= 1)
    process.stop(0.2)
    assert living() == []


def test_a_program_dies_with_its_guardian(tmp_path: Path, living: Callable[[], list[int]]) -> None:
    """It counts as killed, and the main guardian ends its daemons."""
    process = started(KINDS["with a daemon"], tmp_path)
    assert eventually(lambda: len(living()) >= 3)
    guardian_of(process).kill()
    assert eventually(lambda: process.poll() == -signal.SIGKILL)
    assert eventually(lambda: living() == [])


def test_stop_does_not_wait_for_a_frozen_guardian(
    tmp_path: Path, living: Callable[[], list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The guardian is killed with its program."""
    monkeypatch.setattr("mqperf.onhost.processes.child_handle.END_LIMIT_S", 0.2)
    process = started(KINDS["with a daemon"], tmp_path)
    assert eventually(lambda: len(living()) >= 3)
    guardian_of(process).suspend()
    assert process.stop(0.1) == -signal.SIGKILL
    assert eventually(lambda: living() == [])


def test_after_the_first_guardian_there_is_another(tmp_path: Path) -> None:
    """If it is killed, programs continue and new ones start."""
    running = started("exec sleep 4321", tmp_path)
    guardians()[0].kill()
    assert processes.run(["echo", "one"], timeout_s=60).stdout == "one\n"
    assert running.alive
    assert running.stop(10) == -signal.SIGTERM


def test_exit_codes_are_the_programs_own(tmp_path: Path) -> None:
    """Signals are negative, as in Python."""
    scripts = {"exit 7": 7, "kill -SEGV $$": -signal.SIGSEGV, "kill -9 $$": -signal.SIGKILL}
    for script, code in scripts.items():
        assert processes.run(["sh", "-c", script], timeout_s=60).returncode == code
        process = started(script, tmp_path)
        assert eventually(lambda process=process: not process.alive)  # type: ignore[misc]
        assert process.poll() == code


ORDINARY = """
    import signal
    from mqperf.base import processes
    left = {signal.SIGKILL, signal.SIGSTOP, signal.SIGPIPE, signal.SIGXFSZ}  # as Python has them
    for number in signal.valid_signals() - left:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    print(processes.run(["grep", "^Sig", "/proc/self/status"], timeout_s=60).stdout, end="")
"""


def test_a_program_gets_ordinary_signals() -> None:
    """Signals ignored by guardians or the parent are not ignored by programs."""
    argv = [sys.executable, "-c", textwrap.dedent(ORDINARY)]
    output = subprocess.check_output(argv, text=True)
    masks = dict(line.split(":\t") for line in output.splitlines())
    # 32 and 33, which the C library keeps to itself, are ignored in all that it spawns.
    assert int(masks["SigIgn"], 16) & 0x7FFFFFFF == int(masks["SigBlk"], 16) == 0


def test_a_program_inherits_no_files() -> None:
    """Only stdin, stdout and stderr, so that no lock or socket stays open in it."""
    with Path(os.devnull).open() as extra:
        os.set_inheritable(extra.fileno(), True)  # noqa: FBT003
        done = processes.run(["ls", "/proc/self/fd"], timeout_s=60)
    assert len(done.stdout.split()) == 4  # including that of ls


def test_much_output_passes(tmp_path: Path) -> None:
    """More than a pipe holds, in stdout and stderr at once."""
    text = "0123456789" * 200_000
    (tmp_path / "text").write_text(text)
    done = processes.run(["sh", "-c", "cat text; cat text >&2"], cwd=tmp_path, timeout_s=60)
    assert (done.stdout, done.stderr) == (text, text)


def test_errors_of_the_kernel_are_reported(tmp_path: Path) -> None:
    """The error names what cannot be executed or is missing."""
    (tmp_path / "text").write_text("no program")
    (tmp_path / "text").chmod(0o755)
    with pytest.raises(HostError, match=r"text.*: Exec format error"):
        processes.start("text", [str(tmp_path / "text")], env=None, log=tmp_path / "log", cwd=None)
    with pytest.raises(HostError, match=r"absent: No such file or directory"):
        processes.run(["true"], cwd=tmp_path / "absent", timeout_s=60)


def test_threads_may_start_programs_at_once() -> None:
    """Each gets its own output."""
    answers: list[str] = []

    def ask(number: int) -> None:
        answers.append(processes.run(["echo", str(number)], timeout_s=60).stdout.strip())

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(int, answers)) == list(range(12))

"""Work with a lease ends completely when the lease is not renewed."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest

pytestmark = pytest.mark.starts_programs

PROGRAM = """
import subprocess, sys, time
from mqperf.onhost.processes.lease import leased

def work(alive):
    words = "(setsid sleep 4321 &); trap '' TERM; echo up; sleep 4321 & wait"
    subprocess.Popen(["sh", "-c", words])
    while sys.stdin.readline():
        alive()

leased(work, float(sys.argv[1]))
"""


@contextmanager
def leased(lease_s: float) -> Iterator[tuple[subprocess.Popen[str], list[psutil.Process]]]:
    """A program whose work has a daemon and a process that ignores signals; its processes."""
    argv = [sys.executable, "-c", PROGRAM, str(lease_s)]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "up\n"
        descendants = psutil.Process(program.pid).children(recursive=True)
        while len(descendants) < 4:  # work, shell, two sleeps
            descendants = psutil.Process(program.pid).children(recursive=True)
        try:
            yield program, descendants
        finally:
            program.kill()


def gone(program: subprocess.Popen[str], descendants: list[psutil.Process]) -> bool:
    program.wait(60)
    return not psutil.wait_procs(descendants, timeout=60)[1]


def test_it_ends_when_the_work_does() -> None:
    """With all its processes, even detached ones."""
    with leased(600) as (program, descendants):
        assert program.stdin is not None
        program.stdin.close()
        assert gone(program, descendants)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_it_ends_when_the_work_is_killed_or_stopped(number: signal.Signals) -> None:
    """A stopped process cannot see that its lease has expired."""
    with leased(600 if number == signal.SIGKILL else 3) as (program, descendants):
        descendants[0].send_signal(number)
        assert gone(program, descendants)


def test_it_ends_when_the_lease_is_not_renewed() -> None:
    """It continues as long as the lease is renewed."""
    with leased(3) as (program, descendants):
        assert program.stdin is not None
        for _ in range(35):
            program.stdin.write("\n")
            program.stdin.flush()
            time.sleep(0.1)
        assert program.poll() is None
        assert gone(program, descendants)

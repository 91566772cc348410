"""The processes of sweeps in the background: how one is started, and found again."""

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from mqperf.base.errors import HostError
from mqperf.lab.runner import Job
from mqperf_notebook.record.sweep_files import SweepFiles

STOP_S = 60.0
PROGRAM = ("-P", "-Xutf8", "-m", "mqperf_notebook.front.background")


def begin(job: Job, hosts: str | None) -> None:
    """Start the sweep of a job, in a session of its own, so that it outlives us.

    Raises ``RecordError`` when one is running into that folder.
    """
    given = os.fdopen(os.memfd_create("job"), "w+b")  # in no file: a plan may hold passwords
    with SweepFiles(job.runs).taken() as log, given:
        pickle.dump((job, hosts), given)
        given.seek(0)
        argv = [sys.executable, *PROGRAM, str(job.runs)]  # the folder is for who looks for it
        process = subprocess.Popen(
            argv, stdin=given, stdout=log, stderr=log, start_new_session=True
        )
    threading.Thread(target=process.wait, daemon=True).start()


def end(process: psutil.Process) -> None:
    """Have a sweep end what it started, and itself; raises ``HostError`` for that of another user.

    One that has not within ``STOP_S`` seconds is killed, and what it started ends all the same.
    """
    try:
        process.terminate()
        process.wait(STOP_S)
    except psutil.TimeoutExpired:
        process.kill()
        process.wait()
    except psutil.AccessDenied:
        raise HostError(f"process {process.pid} is another user's: ask them to end it") from None
    except psutil.NoSuchProcess:
        pass


def running() -> dict[Path, psutil.Process]:
    """The process of every sweep in the background on this machine, by its runs folder."""
    return dict(_sessions())


def _sessions() -> Iterator[tuple[Path, psutil.Process]]:
    for process in psutil.process_iter(["cmdline"]):
        match process.info["cmdline"]:
            case [_, *program, folder] if (*program,) == PROGRAM:
                with suppress(ProcessLookupError):
                    if os.getsid(process.pid) == process.pid:  # and no fork of it
                        yield Path(folder), process

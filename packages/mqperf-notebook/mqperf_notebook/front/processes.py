"""Processes of background sweeps: start, end, and search for running ones."""

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
    """Start the sweep of a job in a new session, so that it outlives this process.

    Raises ``RecordError`` if a sweep is already running into that folder.
    """
    stdin = os.fdopen(os.memfd_create("job"), "w+b")  # in no file: a plan may hold passwords
    with SweepFiles(job.runs).taken() as log, stdin:
        pickle.dump((job, hosts), stdin)
        stdin.seek(0)
        argv = [sys.executable, *PROGRAM, str(job.runs)]  # ``running`` finds it by the folder
        process = subprocess.Popen(
            argv, stdin=stdin, stdout=log, stderr=log, start_new_session=True
        )
    threading.Thread(target=process.wait, daemon=True).start()


def end(process: psutil.Process) -> None:
    """Terminate a sweep with all that it started; raises ``HostError`` for another user's.

    After ``STOP_S`` seconds it is killed, and the processes that it started end as well.
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
    """Return the process of every background sweep on this machine, by its runs folder."""
    return dict(_sessions())


def _sessions() -> Iterator[tuple[Path, psutil.Process]]:
    for process in psutil.process_iter(["cmdline"]):
        match process.info["cmdline"]:
            case [_, *program, folder] if (*program,) == PROGRAM:
                with suppress(ProcessLookupError):
                    if os.getsid(process.pid) == process.pid:  # not a fork of it
                        yield Path(folder), process

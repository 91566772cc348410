"""The process of a background sweep: it runs a plan, and ends when this is done or stopped.

The job is read from standard input: a plan may hold passwords, which must not be arguments.
"""

import os
import pickle
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from rich.console import Console

from mqperf.base.errors import MqperfError
from mqperf.base.redaction import without_passwords
from mqperf.base.terminal import print_line
from mqperf.front.live import Pulse, served
from mqperf.front.running import measured, recorded
from mqperf.lab.runner import Job
from mqperf_notebook.record.sweep_files import SweepFiles


def main() -> None:
    """Run the job, and write the reason of a failure to a file."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    os.environ.pop("MPLBACKEND", None)  # that of the notebook
    job, hosts = pickle.load(sys.stdin.buffer)  # noqa: S301 (from the parent process)
    files = SweepFiles(job.runs)
    files.end.write_text(without_passwords(_run(job, hosts, files)), encoding="utf-8")


def _run(job: Job, hosts: str | None, files: SweepFiles) -> str:
    """Run the job, and return what failed or ended it early; empty if all went well."""
    console = Console(highlight=False, force_terminal=False)
    try:
        [outcome] = measured([job], console, partial(_shown, files), hosts=hosts)
    except KeyboardInterrupt:
        return "it was stopped"
    except MqperfError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 (no caller would report it)
        traceback.print_exc()
        return f"{type(error).__name__}: {error}; more is in {files.log}"
    print_line(console, recorded(job.runs, outcome))
    return "; ".join(reason for _, reason in outcome.failed)


@contextmanager
def _shown(files: SweepFiles, pulse: Pulse) -> Iterator[None]:
    with served(pulse) as address:
        files.page.write_text(address)
        yield


if __name__ == "__main__":
    main()

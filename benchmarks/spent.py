"""Seconds of CPU of a command, for the benchmarks that ask for them; by itself it measures nothing.

What mqperf starts is waited for by its guardians, and not by mqperf.  A guardian that has lost its
parent comes to whoever adopts orphans, and with it the CPU of Sphinx, of brokers and of kernels.
"""

import os
import resource
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress

from mqperf.onhost.processes.guardian import PR_SET_CHILD_SUBREAPER, prctl


def of(argv: Sequence[str], variables: Mapping[str, str] | None = None) -> float:
    """User and system time of a command and of all that it started; it is waited for."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    before = _waited_for()
    environment = {**os.environ, **(variables or {})}
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, env=environment)
    with suppress(ChildProcessError):
        while True:
            os.wait()
    return _waited_for() - before


def _waited_for() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime

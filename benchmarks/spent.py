"""Seconds of CPU of a command, a helper for other benchmarks.

Processes that mqperf starts are waited for by its guardians, not by mqperf.  A guardian that lost
its parent is adopted by the subreaper, with it the CPU of Sphinx, of brokers and of kernels.
"""

import os
import resource
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress

from mqperf.onhost.processes.guardian import PR_SET_CHILD_SUBREAPER, prctl


def of(argv: Sequence[str], variables: Mapping[str, str] | None = None) -> float:
    """Run a command; return the user and system time of it and of all that it started."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    before = _children_cpu_s()
    environment = {**os.environ, **(variables or {})}
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, env=environment)
    with suppress(ChildProcessError):
        while True:
            os.wait()
    return _children_cpu_s() - before


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime

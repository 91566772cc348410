"""Work that ends, with all that it started, when its lease is not renewed in time."""

import gc
import os
import select
import signal
from collections.abc import Callable
from functools import partial

from mqperf.onhost.processes import guardian


def leased(work: Callable[[Callable[[], None]], None], lease_s: float) -> None:
    """Do ``work`` in a child process, and return when none of its processes are left.

    ``work`` is given a function that renews the lease, and must call it once in ``lease_s``
    seconds.  It is ended when it returns, when it dies, and when the lease runs out, even while it
    is stopped.  This process ignores the signals of a closed connection, and adopts orphans among
    the descendants, even daemons.
    """
    guardian.prctl(guardian.PR_SET_CHILD_SUBREAPER, 1)
    for number in guardian.IGNORED:
        signal.signal(number, signal.SIG_IGN)
    renewals, renewal = os.pipe()
    parent = os.getpid()
    gc.freeze()
    if os.fork() == 0:
        try:
            guardian.prctl(guardian.PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() == parent:
                os.close(renewals)
                work(partial(_renew, renewal))
        finally:
            os._exit(0)
    os.close(renewal)
    _close_standard_files()
    while select.select([renewals], [], [], lease_s)[0] and os.read(renewals, 4096):
        pass
    guardian.end_all()


def _renew(renewal: int) -> None:
    os.write(renewal, b".")


def _close_standard_files() -> None:
    """Replace the standard files by the null device, so that the peer sees the end of the work."""
    null = os.open(os.devnull, os.O_RDWR)
    for file in range(3):
        os.dup2(null, file)
    os.close(null)

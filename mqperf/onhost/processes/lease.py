"""Work that ends, with all that it started, when nobody has shown a sign of life for a while."""

import gc
import os
import select
import signal
from collections.abc import Callable
from functools import partial

from mqperf.onhost.processes import guardian


def leased(work: Callable[[Callable[[], None]], None], lease_s: float) -> None:
    """Do ``work`` in a process below this one, and return when nothing of it is left.

    It is given a function, and must call that once in ``lease_s`` seconds.  It ends when it
    returns, when it dies, and when it does not call: also when it was stopped, and cannot notice.
    This process ignores what a closed connection sends it, and adopts whatever the work's
    descendants leave, however they detach.
    """
    guardian.prctl(guardian.PR_SET_CHILD_SUBREAPER, 1)
    for number in guardian.IGNORED:
        signal.signal(number, signal.SIG_IGN)
    signs, sign = os.pipe()
    parent = os.getpid()
    gc.freeze()
    if os.fork() == 0:
        try:
            guardian.prctl(guardian.PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() == parent:
                os.close(signs)
                work(partial(_tell, sign))
        finally:
            os._exit(0)
    os.close(sign)
    _let_go()
    while select.select([signs], [], [], lease_s)[0] and os.read(signs, 4096):
        pass
    guardian.end_all()


def _tell(sign: int) -> None:
    os.write(sign, b".")


def _let_go() -> None:
    """Hold no standard file: whoever talks with the work shall see its end."""
    null = os.open(os.devnull, os.O_RDWR)
    for file in range(3):
        os.dup2(null, file)
    os.close(null)

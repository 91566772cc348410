"""A fixed piece of work, which tells how fast a core is at this moment.

A virtual machine may be slower on one day than on another without any steal time: others share the
clock rate and the execution units of its processor.  The work is arithmetic on long integers, since
its speed hardly depends on the version of Python: with 3.12 and 3.13 it is 0.95 to 0.97 of that
with 3.11, and with 3.8 to 3.10 0.90 to 0.93.
"""

import time

BASE, EXPONENT, MODULUS = 3, 2**170 - 1, 2**1024 - 105
"""The work is one modular power, which takes less than half a millisecond."""

TRIES = 3
"""The first try is slower by what a core has to load into its caches again."""


def cpu_s() -> float:
    """Return the CPU seconds of this thread that the fastest of a few tries takes."""
    return min(_try_s() for _ in range(TRIES))


def _try_s() -> float:
    begin = time.thread_time()
    pow(BASE, EXPONENT, MODULUS)
    return time.thread_time() - begin

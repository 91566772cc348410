"""Replacements for the simulator's waits at its end, each as long as needed.

It sleeps a second before it ends, so that its statistics cover the last second, and no CALL stays
without its reply.
"""

import sys
import time
from collections.abc import Callable
from itertools import count
from types import ModuleType


def replace(simulator: ModuleType, function: str, wait: Callable[[float], None]) -> None:
    """Have a function of the simulator call ``wait`` where it would sleep."""

    def sleep(seconds: float) -> None:
        caller = sys._getframe(1).f_code.co_name  # noqa: SLF001 (the only way to identify the caller)
        (wait if caller == function else time.sleep)(seconds)

    clock = ModuleType(time.__name__)
    vars(clock).update(vars(time), sleep=sleep)
    vars(simulator)["time"] = clock


def telling(threads: int, sent: Callable[[], None]) -> Callable[[float], None]:
    """Return a wait for ``send_messages`` that calls ``sent`` when all threads have ended.

    Each thread waits twice: until a whole second begins, and, with all its replies, at its end.
    """
    waits = count(1)

    def wait(seconds: float) -> None:
        if next(waits) == 2 * threads:
            sent()
        time.sleep(seconds)

    return wait

"""The simulator's waits at its end, each as long as what it waits for.

It sleeps a second before it ends, so that its statistics take in the last one, and no CALL is left
without its reply.
"""

import sys
import time
from collections.abc import Callable
from itertools import count
from types import ModuleType


def replace(simulator: ModuleType, function: str, wait: Callable[[float], None]) -> None:
    """Have a function of the simulator wait in this way when it would sleep."""

    def sleep(seconds: float) -> None:
        caller = sys._getframe(1).f_code.co_name  # noqa: SLF001 (nothing else tells who waits)
        (wait if caller == function else time.sleep)(seconds)

    clock = ModuleType(time.__name__)
    vars(clock).update(vars(time), sleep=sleep)
    vars(simulator)["time"] = clock


def telling(threads: int, sent: Callable[[], None]) -> Callable[[float], None]:
    """A wait of ``send_messages``, of which ``sent`` is told when all threads have ended.

    Each waits twice: until a whole second begins, and, when it has all its replies, at its end.
    """
    waits = count(1)

    def wait(seconds: float) -> None:
        if next(waits) == 2 * threads:
            sent()
        time.sleep(seconds)

    return wait

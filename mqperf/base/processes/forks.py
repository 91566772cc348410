"""Work shared out over forks of this process, one for each core, which end with us."""

import gc
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from mqperf.base.errors import HostError
from mqperf.onhost.processes import guardian

Item = TypeVar("Item")
Result = TypeVar("Result")

ENDING = {signal.SIGINT, signal.SIGTERM}

_work: tuple[Callable[[Any], Any], Sequence[Any]] | None = None
"""In a fork what it does, and with what: it came along, so that only numbers are sent."""


def shared_out(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    take: Callable[[Result], object] = lambda _result: None,
) -> None:
    """Do ``work`` for each item, on all cores where that is safe.

    ``take`` is given its results here, in the order of the items, each as soon as those before it
    are there.  A process that has threads must not be forked, and one that starts anew would import
    for longer than most work takes: within a notebook's kernel one process does all.  Whatever ends
    us early, an interruption or an error of one item, ends the forks at once.  Raises what ``work``
    raises, and ``HostError`` when somebody killed a fork.
    """
    workers = min(len(os.sched_getaffinity(0)), len(items))
    if workers < 2 or threading.active_count() > 1:
        for item in items:
            take(work(item))
        return
    import multiprocessing  # these three are slow to import, and of no use to most commands
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    earlier = multiprocessing.active_children()
    fork = multiprocessing.get_context("fork")
    pool = ProcessPoolExecutor(workers, fork, _begin, (os.getpid(), work, items))
    try:
        with _held_back():
            waiting = deque(pool.submit(_done, number) for number in range(len(items)))
        while waiting:  # none is cancelled: the pool's own thread could not mark it as broken
            take(waiting.popleft().result())
    except BaseException as error:
        for child in multiprocessing.active_children():
            if child not in earlier:
                child.kill()
        if isinstance(error, BrokenProcessPool):
            raise HostError(
                "a process of ours was killed, perhaps as memory ran out; free some, and try again"
            ) from None
        raise
    finally:
        pool.shutdown()


def _begin(parent: int, work: Callable[[Any], Any], items: Sequence[Any]) -> None:
    """Begin a fork: Ctrl-C and SIGTERM are told to its parent, who ends it."""
    global _work  # noqa: PLW0603 (the only way from here to what is done for an item)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    guardian.prctl(guardian.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # who died before that
        os._exit(1)
    gc.freeze()  # what was there before is no garbage of ours, and looking at it copies its pages
    _work = work, items


def _done(number: int) -> Any:  # noqa: ANN401 (what the work gives)
    if _work is None:
        raise AssertionError("a fork that did not begin")
    work, items = _work
    return work(items[number])


@contextmanager
def _held_back() -> Iterator[None]:
    """Hear signals later: a fork has our handlers until it has begun, and would answer as we do."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

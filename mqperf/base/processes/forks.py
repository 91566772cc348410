"""Work shared out over forks of this process, one for each core, which end with it."""

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
"""The function and items in a fork: inherited, so that only indexes are sent to it."""


def shared_out(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    take: Callable[[Result], object] = lambda _result: None,
) -> None:
    """Call ``work`` for each item, on all cores where that is safe.

    ``take`` is called in this process with the results, in the order of the items, each as soon as
    those before it are done.  A process with threads, such as a notebook's kernel, does all the
    work itself: it must not be forked, and a spawned process would import for longer than most work
    takes.  An interruption, or an error of one item, kills the forks at once.  Raises whatever
    ``work`` raises, and ``HostError`` when a fork was killed.
    """
    workers = min(len(os.sched_getaffinity(0)), len(items))
    if workers < 2 or threading.active_count() > 1:
        for item in items:
            take(work(item))
        return
    import multiprocessing  # these three are slow to import, and most commands do not need them
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    earlier = multiprocessing.active_children()
    fork = multiprocessing.get_context("fork")
    pool = ProcessPoolExecutor(workers, fork, _initialise, (os.getpid(), work, items))
    try:
        with _signals_blocked():
            pending = deque(pool.submit(_work_on, index) for index in range(len(items)))
        while pending:  # none is cancelled: the pool's own thread could not mark it as broken
            take(pending.popleft().result())
    except BaseException as error:
        for child in multiprocessing.active_children():
            if child not in earlier:
                child.kill()
        if isinstance(error, BrokenProcessPool):
            raise HostError(
                "a process of mqperf was killed, perhaps for lack of memory; free some, and retry"
            ) from None
        raise
    finally:
        pool.shutdown()


def _initialise(parent: int, work: Callable[[Any], Any], items: Sequence[Any]) -> None:
    """Set up a fork: it ignores Ctrl-C, which its parent handles, and dies with its parent."""
    global _work  # noqa: PLW0603 (a pool's initializer can hand over values only so)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    guardian.prctl(guardian.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before prctl took effect
        os._exit(1)
    gc.freeze()  # inherited objects are no garbage, and collecting would copy their pages
    _work = work, items


def _work_on(index: int) -> Any:  # noqa: ANN401 (the result of the work)
    if _work is None:
        raise AssertionError("a fork that did not begin")
    work, items = _work
    return work(items[index])


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Block signals while forking: a fork has the parent's handlers until ``_initialise`` ran."""
    earlier_mask = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, earlier_mask)

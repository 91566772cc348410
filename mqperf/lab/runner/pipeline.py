"""The overlap of a sweep: one case is measured, and the next one gets ready while it drains."""

from collections import deque
from collections.abc import Callable

from mqperf.base.errors import RecordError
from mqperf.lab.runner.phases import Begun
from mqperf.plan import Case


class Pipeline:
    """A queue of cases with one place in front of it, for the case that is getting ready.

        queue ── prepare ─► ready ── take ─► measured and brought home by who took it

    What stands in the way of a run folder is no reason to lose the case that drains meanwhile: such
    a refusal keeps the place, and is raised when its turn comes.  ``close`` puts back whoever has
    not been taken, as if it had never begun.
    """

    def __init__(self, queue: deque[Case], start: Callable[[Case], Begun]) -> None:
        """Take cases from the front of the queue, each when its trial has begun."""
        self._queue = queue
        self._start = start
        self._ready: Begun | RecordError | None = None

    def prepare(self, present: Case) -> None:
        """Begin the next trial, if there is one left and it can begin beside the present one.

        With a link of either it cannot: they would have it both, or it would change under one.
        """
        if any(case.link is not None for case in (present, *list(self._queue)[:1])):
            return
        try:
            self._ready = self._begun()
        except RecordError as error:
            self._ready = error

    def take(self) -> Begun | None:
        """The trial whose turn it is, None when all had theirs; raises ``RecordError``."""
        ready, self._ready = self._ready, None
        if isinstance(ready, RecordError):
            raise ready
        return ready or self._begun()

    def close(self) -> None:
        """Take back a trial that nobody took."""
        ready, self._ready = self._ready, None
        if ready is not None and not isinstance(ready, RecordError):
            self._queue.appendleft(ready.trial.case)
            ready.trial.discard()

    def _begun(self) -> Begun | None:
        if not self._queue:
            return None
        begun = self._start(self._queue[0])
        self._queue.popleft()
        return begun

"""The overlap of a sweep: while one case is brought home, the next one gets ready and warms up."""

import time
from collections import deque
from collections.abc import Callable

from mqperf.base.errors import MqperfError, RecordError
from mqperf.lab.runner.phases import Agreed, Begun, Prepared, Spoiled
from mqperf.plan import Case

LONGEST_S = 2.4
"""What concluding a run takes, assumed until it was seen of some."""

MARGIN = 1.1
LAST_RUNS = 5


class Pipeline:
    """A queue of cases with one place in front of it, for the case that is getting ready.

        queue ── prepare ─► getting ready ── agree ─► warming up ── take ─► measured by who took it

    It gets ready while the present case drains, and warms up while that is concluded, of which
    nothing is left to do when its window begins: it is agreed late enough, by how long the last
    runs took, and a trial whose window has begun by then is begun again.

    What stands in the way of a run folder is no reason to lose the case that drains meanwhile: such
    a refusal keeps the place, and is raised when its turn comes.  ``close`` puts back whoever has
    not been taken, as if it had never begun.
    """

    def __init__(self, queue: deque[Case], start: Callable[[Case], Begun]) -> None:
        """Take cases from the front of the queue, each when its trial has begun."""
        self._queue = queue
        self._start = start
        self._ready: Begun | RecordError | None = None
        self._drained: float | None = None
        self._concluding = deque([LONGEST_S], LAST_RUNS)

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

    def agree(self, present: Case) -> None:
        """Let the load of the next trial start, as the present one has drained.

        Not before its processes are ready, beside background loads of the present one, or with
        actions, whose preparation may take long.
        """
        self._drained, after = time.time(), self._ready
        if isinstance(after, Prepared) and not present.background and not after.trial.case.actions:
            try:
                if after.ready:
                    self._ready = after.agree(self._drained + MARGIN * max(self._concluding))
            except MqperfError as error:
                self._ready = Spoiled(after.trial, error)

    def take(self) -> Begun | None:
        """The trial whose turn it is, None when all had theirs; raises ``RecordError``."""
        if self._drained is not None:
            self._concluding.append(time.time() - self._drained)
            self._drained = None
        if isinstance(self._ready, Agreed) and time.time() >= self._ready.schedule.window_start:
            self.close()
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

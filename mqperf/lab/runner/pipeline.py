"""The overlap of cases in a sweep: the next one is prepared while the current one finishes."""

import time
from collections import deque
from collections.abc import Callable

from mqperf.base.errors import MqperfError, RecordError
from mqperf.lab.runner.phases import Agreed, Begun, Prepared, Spoiled
from mqperf.plan import Case

FIRST_DURATION_S = 2.4
"""Assumed duration of concluding a run, before the first was measured."""

MARGIN = 1.1
LAST_RUNS = 5


class Pipeline:
    """A queue of cases with one slot in front of it, for the case that is getting ready.

        queue ── prepare ─► getting ready ── agree ─► warming up ── take ─► measured by the caller

    A case gets ready while the current case drains, and warms up while that is concluded.  The
    start is agreed late enough, by the durations of the last runs, that the conclusion ends before
    the window begins; a trial whose window has begun before that is discarded and begun again.

    An error with the next run folder must not affect the case that drains meanwhile: the error
    takes the slot, and is raised in its turn.  ``close`` puts a case that was not taken back into
    the queue, as if it had never begun.
    """

    def __init__(self, queue: deque[Case], start: Callable[[Case], Begun]) -> None:
        """Take cases from the front of the queue, each once its trial has begun."""
        self._queue = queue
        self._start = start
        self._next: Begun | RecordError | None = None
        self._drained_at: float | None = None
        self._durations_s = deque([FIRST_DURATION_S], LAST_RUNS)

    def prepare(self, current: Case) -> None:
        """Begin the next trial, if there is one and it can overlap the current one.

        It cannot when either has a link: both would use it, or it would change during a trial.
        """
        if any(case.link is not None for case in (current, *list(self._queue)[:1])):
            return
        try:
            self._next = self._begin()
        except RecordError as error:
            self._next = error

    def agree(self, current: Case) -> None:
        """Let the load of the next trial start, as the current one has drained.

        Not before its processes are ready, nor beside background loads of the current trial, nor
        with actions, whose preparation may take long.
        """
        self._drained_at, begun = time.time(), self._next
        if isinstance(begun, Prepared) and not current.background and not begun.trial.case.actions:
            try:
                if begun.ready:
                    self._next = begun.agree(self._drained_at + MARGIN * max(self._durations_s))
            except MqperfError as error:
                self._next = Spoiled(begun.trial, error)

    def take(self) -> Begun | None:
        """Return the next trial, None when there is none left; raises ``RecordError``."""
        if self._drained_at is not None:
            self._durations_s.append(time.time() - self._drained_at)
            self._drained_at = None
        if isinstance(self._next, Agreed) and time.time() >= self._next.schedule.window_start:
            self.close()
        begun, self._next = self._next, None
        if isinstance(begun, RecordError):
            raise begun
        return begun or self._begin()

    def close(self) -> None:
        """Discard a trial that was not taken, and put its case back into the queue."""
        begun, self._next = self._next, None
        if begun is not None and not isinstance(begun, RecordError):
            self._queue.appendleft(begun.trial.case)
            begun.trial.discard()

    def _begin(self) -> Begun | None:
        if not self._queue:
            return None
        begun = self._start(self._queue[0])
        self._queue.popleft()
        return begun

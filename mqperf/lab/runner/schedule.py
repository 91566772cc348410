"""The schedule of a run, agreed when all its processes are ready."""

from dataclasses import dataclass
from typing import Self

from mqperf.plan import BEFORE_S, Case


@dataclass(frozen=True, slots=True)
class Schedule:
    """Start of the load, measured window, and end of the load; in epoch seconds.

    Background loads, if there are any, start at ``background``.
    """

    background: int
    start: int
    window_start: float
    window_end: float
    end: float

    @classmethod
    def from_start(cls, first: int, case: Case) -> Self:
        """Return the schedule of a case whose first load starts at ``first``."""
        start = first + BEFORE_S if case.background else first
        window_start = float(start + case.warmup_s)
        window_end = window_start + case.duration_s
        return cls(first, start, window_start, window_end, window_end + case.cooldown_s)

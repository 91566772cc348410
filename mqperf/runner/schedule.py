"""The instants of a run, which are agreed when all its processes are ready."""

from dataclasses import dataclass
from typing import Self

from mqperf.plan import Case


@dataclass(frozen=True, slots=True)
class Schedule:
    """When the load starts, the measured window, and when the load ends; in epoch seconds."""

    start: int
    window_start: float
    window_end: float
    end: float

    @classmethod
    def from_start(cls, start: int, case: Case) -> Self:
        """The schedule of a case whose load starts at ``start``."""
        window_start = float(start + case.warmup_s)
        window_end = window_start + case.duration_s
        return cls(start, window_start, window_end, window_end + case.cooldown_s)

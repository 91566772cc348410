"""Instants in records, and clocks that were set during a run."""

from datetime import UTC, datetime

from mqperf.base.errors import HostError

CLOCK_STEP_LIMIT_S = 0.1
"""A run is refused when its wall clock was set by more than this."""


def utc(epoch: float) -> str:
    """Format an instant as ISO 8601 in UTC with milliseconds."""
    return datetime.fromtimestamp(epoch, UTC).isoformat(timespec="milliseconds")


def clock_was_set(host: str, step_s: float) -> HostError:
    """Return the error for a wall clock that was set by ``step_s`` during a run."""
    return HostError(
        f"the clock of host {host} was set by {step_s:+.3f} s during the run;"
        " let it settle and repeat the command"
    )

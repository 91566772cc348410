"""How a record writes instants down."""

from datetime import UTC, datetime

from mqperf.base.errors import HostError

CLOCK_STEP_LIMIT_S = 0.1
"""A wall clock that was set by more than this is no clock to measure with."""


def utc(epoch: float) -> str:
    """An instant as ISO 8601 in UTC with milliseconds."""
    return datetime.fromtimestamp(epoch, UTC).isoformat(timespec="milliseconds")


def clock_was_set(host: str, step_s: float) -> HostError:
    """The error about a wall clock that was set by so many seconds during a run."""
    return HostError(
        f"the clock of host {host} was set by {step_s:+.3f} s during the run;"
        " let it settle and repeat the command"
    )

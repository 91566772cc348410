"""Detects contradictory figures of a run, for all tools."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

LONGEST_S = 7 * 86_400
"""The longest run: a week."""

LATEST_S = 4_102_444_800
"""The latest start of a run, in seconds since 1970: the year 2100."""

ROUNDING = 0.02
"""Allowed relative rounding error of printed rates and percentiles."""


def falling(name: str, values: Mapping[str, float]) -> Iterator[str]:
    """Yield percentiles that are below the previous one; ``values`` are in order of level."""
    levels = [*values.items()]
    for (lower, less), (upper, more) in pairwise(levels):
        if more < less:
            yield (
                f"{name}: {upper} is {more * 1e3:g} ms, less than {lower}, which is"
                f" {less * 1e3:g} ms"
            )


def differing(
    name: str, first: tuple[str, float], second: tuple[str, float], tolerance: float
) -> Iterator[str]:
    """Yield the difference of two values of a figure, each with its source, above a tolerance."""
    (first_source, first_value), (second_source, second_value) = first, second
    if abs(first_value - second_value) > tolerance:
        yield f"{name}: {first_source} {first_value:g}, {second_source} {second_value:g}"


def beyond_limit(row: Mapping[str, float], threads: int, confirms: int) -> Iterator[str]:
    """Yield if, by Little's law, more messages were unconfirmed than publishers may have.

    Unconfirmed messages are rate x mean time to confirm.  49 % of messages take at least the
    median, and 1 % at least p99, so the mean is at least 0.49 x median + 0.01 x p99.
    """
    names = ("send_rate_msg_s", "confirm_p50_s", "confirm_p99_s")
    rate, p50, p99 = (row.get(name) or 0.0 for name in names)
    unconfirmed, limit = rate * (0.49 * p50 + 0.01 * p99), threads * confirms
    if unconfirmed > limit * (1 + ROUNDING):
        yield (
            f"{rate:.0f} msg/s that take {p50 * 1e3:g} ms (median) to the confirm are more than"
            f" {unconfirmed:.0f} without one, {threads} x {confirms} may be"
        )

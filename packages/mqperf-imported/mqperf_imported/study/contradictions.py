"""What figures of a run cannot be at once, whichever tool wrote them."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

LONGEST_S = 7 * 86_400
"""No run goes on for longer than a week."""

LATEST_S = 4_102_444_800
"""No run began after this second since 1970: that of the year 2100."""

ROUNDING = 0.02
"""Of rates and percentiles as they are printed."""


def falling(name: str, values: Mapping[str, float]) -> Iterator[str]:
    """Percentiles, from the least to the largest, of which one is below the one before it."""
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
    """Two values of one figure, each with what says it, that are further apart than that."""
    (source, value), (other, beside) = first, second
    if abs(value - beside) > tolerance:
        yield f"{name}: {source} {value:g}, {other} {beside:g}"


def beyond_limit(row: Mapping[str, float], threads: int, confirms: int) -> Iterator[str]:
    """More messages without a confirm than publishers may have, by Little's law.

    Rate x mean time to the confirm are those under way.  Half of the messages take the median at
    least and one of a hundred p99, so the mean is at least the sum of both, so weighted.
    """
    names = ("send_rate_msg_s", "confirm_p50_s", "confirm_p99_s")
    rate, p50, p99 = (row.get(name) or 0.0 for name in names)
    under_way, most = rate * (0.49 * p50 + 0.01 * p99), threads * confirms
    if under_way > most * (1 + ROUNDING):
        yield (
            f"{rate:.0f} msg/s that take {p50 * 1e3:g} ms (median) to the confirm are more than"
            f" {under_way:.0f} without one, {threads} x {confirms} may be"
        )

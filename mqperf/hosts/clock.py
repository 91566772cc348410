"""How far another clock is off ours, with a bound that holds whatever the network does."""

from collections.abc import Callable
from dataclasses import dataclass

ECHOES = 50
"""So many take milliseconds on a network of machines side by side."""


@dataclass(frozen=True, slots=True)
class Echo:
    """One exchange: our clock before and after, and the other one in between; epoch seconds."""

    before: float
    there: float
    after: float

    @property
    def round_trip_s(self) -> float:
        """How long it took by our clock."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Offset:
    """How far another clock is ahead of ours, and by how much this may be wrong at most.

    The other clock was read at some instant between our two readings, hence the bound: half a round
    trip, however unequal its two ways were.
    """

    offset_s: float
    bound_s: float

    def text(self) -> str:
        """Both in ms."""
        return f"{self.offset_s * 1e3:+.3f} ms ± {self.bound_s * 1e3:.3f} ms"


def offset(echo: Callable[[], Echo], count: int = ECHOES) -> Offset:
    """The offset by the fastest of so many exchanges.

    A clock of ours that is set back meanwhile would give an exchange of no time: such do not count.
    """
    taken = [exchange for exchange in (echo() for _ in range(count)) if exchange.round_trip_s > 0]
    best = min(taken, key=lambda exchange: exchange.round_trip_s)
    return Offset(best.there - (best.before + best.after) / 2, best.round_trip_s / 2)

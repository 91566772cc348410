"""The offset of another host's clock, with an error bound that holds for any network delay."""

from collections.abc import Callable
from dataclasses import dataclass

ECHOES = 50
"""Exchanges per measurement; they take milliseconds on a local network."""


@dataclass(frozen=True, slots=True)
class Echo:
    """One exchange: our clock before and after, the other clock in between; epoch seconds."""

    before: float
    there: float
    after: float

    @property
    def round_trip_s(self) -> float:
        """Duration of the exchange by our clock."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Offset:
    """How far another clock is ahead of ours, and the maximum error of that estimate.

    The other clock was read at some instant between our two readings, so the error is at most half
    a round trip, however unequal its two directions were.
    """

    offset_s: float
    bound_s: float

    def text(self) -> str:
        """Return offset and bound as text, in ms."""
        return f"{self.offset_s * 1e3:+.3f} ms ± {self.bound_s * 1e3:.3f} ms"


def offset(echo: Callable[[], Echo], count: int = ECHOES) -> Offset:
    """Return the offset measured by the fastest of ``count`` exchanges.

    Exchanges without a positive duration are ignored: our clock was set back during them.
    """
    exchanges = [echo() for _ in range(count)]
    fastest = min((e for e in exchanges if e.round_trip_s > 0), key=lambda e: e.round_trip_s)
    return Offset(fastest.there - (fastest.before + fastest.after) / 2, fastest.round_trip_s / 2)

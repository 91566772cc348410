"""Search by bisection for the highest offered rate at which a condition of the plan still holds.

A rate is judged by its runs.  The next rate follows from those already judged, so that a search can
be resumed: the run folder and the plan are its whole state.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from mqperf.plan.case import Case
from mqperf.plan.latencies import LATENCIES, LatencyLimits
from mqperf.plan.pace import RATE
from mqperf.plan.values import Frozen, Misplaced

DIGITS = 4
"""Significant digits of the rates between the bounds."""

Bound = Annotated[float, Field(gt=0, le=10_000_000, allow_inf_nan=False)]
AGAIN = 2
"""Most extra runs at a rate, to replace runs during which other processes used the host."""


class Hold(LatencyLimits):
    """The condition for the measured window of a run: limits of latencies and of two shares."""

    lost_share: float = Field(0.0, ge=0, lt=1, allow_inf_nan=False)
    throughput_share: float = Field(0.98, gt=0, le=1, allow_inf_nan=False)

    @property
    def words(self) -> str:
        """A short description of its limits: ``p99 <= 10 ms``."""
        limits = self.latencies.items()
        terms = [f"{LATENCIES[name]} <= {limit * 1e3:g} ms" for name, limit in limits]
        if self.lost_share:
            terms.append(f"lost <= {self.lost_share * 100:g} %")
        if not terms or self.throughput_share != Hold.model_fields["throughput_share"].default:
            terms.append(f"throughput >= {self.throughput_share * 100:g} % of the offered rate")
        return ", ".join(terms)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a run satisfies the condition, None if its figures do not tell; and the reason.

    ``disturbed``: other processes used the host.  ``margin`` is the logarithm of latency divided by
    its limit, the largest of several; None where no latency was decisive.
    """

    holds: bool | None
    text: str
    disturbed: bool = False
    margin: float | None = None

    @property
    def counted(self) -> bool | None:
        """Whether it held; None for a disturbed run, which a search does not count."""
        return None if self.disturbed else self.holds


Verdicts = Mapping[tuple[float, int], Verdict]
"""Verdicts of all judged runs, by rate and repeat."""


class SearchPlan(Frozen):
    """The bounds of a search, its precision, and the condition that must hold."""

    from_msg_s: Bound
    to_msg_s: Bound
    within_share: float = Field(0.05, ge=0.005, le=1, allow_inf_nan=False)
    hold: Hold = Field(default_factory=Hold)

    @model_validator(mode="after")
    def _upwards(self) -> Self:
        if self.from_msg_s >= self.to_msg_s:
            raise Misplaced(
                ("from_msg_s",),
                f"{self.from_msg_s:g} is not below to_msg_s {self.to_msg_s:g}:"
                " exchange them, or widen the bounds",
            )
        return self

    def between(self, low: float, high: float) -> float | None:
        """Return the geometric mean of the bracket, rounded; None where it is narrow enough."""
        middle = math.sqrt(low * high)
        rate = round(middle, DIGITS - 1 - math.floor(math.log10(middle)))
        narrow = high <= low * (1 + self.within_share) or not low < rate < high
        return None if narrow else rate

    def bracket(self, verdicts: Verdicts, repeats: int) -> "Bracket":
        """Return how far a search has got with these verdicts.

        The majority of the ``repeats`` decides a rate, and no more are run once it is certain.  A
        disturbed run is replaced, up to ``AGAIN`` times for a rate, whether it held or not:
        replacing only those that did not would bias the result upwards.  A bound itself is only
        tried when all rates between were decided alike: overload runs are slow and tell little.
        """
        low: float | None = None
        high: float | None = None
        while True:
            rate = self.between(low or self.from_msg_s, high or self.to_msg_s)
            if rate is None and low is None and high != self.from_msg_s:
                rate = self.from_msg_s
            elif rate is None and high is None and low != self.to_msg_s:
                rate = self.to_msg_s
            if rate is None:
                return self._ended(low, high, verdicts, repeats)
            held = _decided(rate, verdicts, repeats)
            if held is None:
                return Bracket(low, high, (rate, _next_repeat(rate, verdicts, repeats) or 1))
            low, high = (rate, high) if held else (low, rate)

    def _ended(
        self, low: float | None, high: float | None, verdicts: Verdicts, repeats: int
    ) -> "Bracket":
        """Return the final bracket, or the next run that one of its rates still lacks."""
        rates = [rate for rate in (low, high) if rate is not None]
        missing = ((rate, _next_repeat(rate, verdicts, repeats)) for rate in rates)
        next_run = next(((rate, repeat) for rate, repeat in missing if repeat is not None), None)
        return Bracket(low, high, next_run)

    def most_runs(self, repeats: int) -> int:
        """Return the most runs that one search takes, with ``repeats`` at each rate."""
        halvings, low = 0, self.from_msg_s
        while (rate := self.between(low, self.to_msg_s)) is not None:
            halvings, low = halvings + 1, rate
        return (halvings + 1) * repeats


@dataclass(frozen=True, slots=True)
class Bracket:
    """The highest rate that held and the lowest that did not, and the next run.

    A rate is None where none was found so far.  ``next_run`` is the rate and repeat of that run;
    None when the search has ended.
    """

    low: float | None
    high: float | None
    next_run: tuple[float, int] | None

    @property
    def ends(self) -> Literal["found", "beyond", "below", "unfinished"]:
        """How the search ended: the limit is between, above or below the bounds; or unfinished."""
        if self.next_run is not None:
            return "unfinished"
        if self.low is None:
            return "below"
        return "beyond" if self.high is None else "found"


@dataclass(frozen=True, slots=True)
class Search:
    """One search of a plan; its cases differ only in rate and repeat.

    ``case`` is any of them, ``place`` the search's number among those of the plan, from 1.
    """

    plan: SearchPlan
    case: Case
    repeats: int
    place: int
    key: str = field(init=False)
    """The id that its cases share, from all parameters but the rate."""

    def __post_init__(self) -> None:
        """Compute the key."""
        object.__setattr__(self, "key", key(self.case))

    def at(self, rate: float, repeat: int) -> Case:
        """Return the case for a rate and repeat."""
        number = int(rate) if float(rate).is_integer() else rate
        parameters = {**self.case.parameters, RATE: number}
        return self.case.model_copy(update={"parameters": parameters, "repeat": repeat})

    def next(self, verdicts: Verdicts) -> Case | None:
        """Return the case to run next; None when the search has ended."""
        next_run = self.plan.bracket(verdicts, self.repeats).next_run
        return None if next_run is None else self.at(*next_run)

    def covers(self, case: Case) -> bool:
        """Whether the case may be a run of this search."""
        rate = case.parameters.get(RATE)
        within = isinstance(rate, int | float) and (
            self.plan.from_msg_s <= rate <= self.plan.to_msg_s
        )
        return within and case.repeat <= self.repeats + AGAIN and key(case) == self.key

    def longest(self) -> Iterator[Case]:
        """Yield as many cases as the search takes at most, to estimate its duration."""
        for _ in range(self.plan.most_runs(self.repeats)):
            yield self.case


def key(case: Case) -> str:
    """Return the id that all cases of one search share."""
    others = {name: value for name, value in case.parameters.items() if name != RATE}
    return case.model_copy(update={"parameters": others}).point


def rate_and_repeat(case: Case) -> tuple[float, int]:
    """Return the key of a case's verdict in ``Verdicts``."""
    return float(case.parameters[RATE]), case.repeat


def at_rate(rate: float | None, verdicts: Verdicts) -> list[bool | None]:
    """Return the counted outcomes of the runs at a rate."""
    return [verdict.counted for (offered, _), verdict in verdicts.items() if offered == rate]


def deciding(verdicts: Verdicts) -> list[tuple[float, Verdict]]:
    """Return rates and verdicts of runs; disturbed runs only where all at their rate are."""
    quiet = {rate for (rate, _), verdict in verdicts.items() if not verdict.disturbed}
    return [
        (rate, verdict)
        for (rate, _), verdict in verdicts.items()
        if not verdict.disturbed or rate not in quiet
    ]


def by_most(outcomes: Sequence[bool | None], repeats: int) -> bool | None:
    """Whether more than half of the repeats hold; None while that is open."""
    if 2 * outcomes.count(True) > repeats:
        return True
    return False if 2 * outcomes.count(False) >= repeats else None


def _decided(rate: float, verdicts: Verdicts, repeats: int) -> bool | None:
    """Decide a rate by its counted runs; by all of them when replacements are used up."""
    counted = at_rate(rate, verdicts)
    held = by_most(counted, repeats)
    if held is None and len(counted) == repeats + AGAIN:
        every = [verdict.holds for (offered, _), verdict in verdicts.items() if offered == rate]
        return by_most(every, len(every))
    return held


def _next_repeat(rate: float, verdicts: Verdicts, repeats: int) -> int | None:
    """Return the repeat to run next at the rate; None when enough count, or none is left."""
    counted = at_rate(rate, verdicts)
    if len(counted) - counted.count(None) >= repeats:
        return None
    every = range(1, repeats + AGAIN + 1)
    return next((repeat for repeat in every if (rate, repeat) not in verdicts), None)

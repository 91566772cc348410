"""A search: the highest offered rate at which what a plan names still holds, by bisection.

A rate is judged by the runs at it.  Which rate comes next follows from those that were judged, so
that a search goes on wherever it was left: a folder and a plan are all of its state.
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
"""How often a rate is run again for runs during which others used the host."""


class Hold(LatencyLimits):
    """What must hold in the measured window of a run: latencies at most so long, and the shares."""

    lost_share: float = Field(0.0, ge=0, lt=1, allow_inf_nan=False)
    throughput_share: float = Field(0.98, gt=0, le=1, allow_inf_nan=False)

    @property
    def words(self) -> str:
        """What distinguishes it, in a few words: ``p99 <= 10 ms``."""
        terms = [f"{LATENCIES[name]} <= {most * 1e3:g} ms" for name, most in self.latencies.items()]
        if self.lost_share:
            terms.append(f"lost <= {self.lost_share * 100:g} %")
        usual = type(self).model_fields["throughput_share"].default
        if not terms or self.throughput_share != usual:
            terms.append(f"throughput >= {self.throughput_share * 100:g} % of the offered rate")
        return ", ".join(terms)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a run holds what is asked; None where its figures do not say.  And why, in words.

    ``disturbed`` says that others used the host.  ``margin`` is the logarithm of its latency by
    what it may be, the largest of several; None where it was not a latency that decided.
    """

    holds: bool | None
    text: str
    disturbed: bool = False
    margin: float | None = None

    @property
    def counted(self) -> bool | None:
        """Whether it held, as a search counts it."""
        return None if self.disturbed else self.holds


Verdicts = Mapping[tuple[float, int], Verdict]
"""By rate and repeat, of every run that says whether it holds."""


class SearchPlan(Frozen):
    """Between which rates is searched, how closely, and for what."""

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
        """The rate that halves the bracket by ratio; None where it is as narrow as asked."""
        middle = math.sqrt(low * high)
        rate = round(middle, DIGITS - 1 - math.floor(math.log10(middle)))
        narrow = high <= low * (1 + self.within_share) or not low < rate < high
        return None if narrow else rate

    def tried(self, verdicts: Verdicts, repeats: int) -> "Bracket":
        """How far a search has got with these verdicts.

        Most of the ``repeats`` of a rate decide it, and it is not run again once they agree.  A run
        during which others used the host is replaced, ``AGAIN`` times, whether it held or not: a
        second try for those alone that did not would lift what is found.  The bounds themselves
        are only tried when all rates on one side of them were decided alike: beyond what a system
        takes, a run is slow and tells little.
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
                return Bracket(low, high, (rate, _next(rate, verdicts, repeats) or 1))
            low, high = (rate, high) if held else (low, rate)

    def _ended(
        self, low: float | None, high: float | None, verdicts: Verdicts, repeats: int
    ) -> "Bracket":
        """The bracket in the end, of which both rates have all their repeats."""
        ends = [(rate, _next(rate, verdicts, repeats)) for rate in (low, high) if rate is not None]
        left = next(((rate, repeat) for rate, repeat in ends if repeat is not None), None)
        return Bracket(low, high, left)

    def most_runs(self, repeats: int) -> int:
        """Runs that one search takes at most, with so many at each rate."""
        halves, low = 0, self.from_msg_s
        while (rate := self.between(low, self.to_msg_s)) is not None:
            halves, low = halves + 1, rate
        return (halves + 1) * repeats


@dataclass(frozen=True, slots=True)
class Bracket:
    """The highest rate that held and the lowest that did not, and which run comes next.

    A rate is None where none was found so far.  ``left`` are rate and repeat of the next run; None
    when the search has ended.
    """

    low: float | None
    high: float | None
    left: tuple[float, int] | None

    @property
    def ends(self) -> Literal["found", "beyond", "below", "unfinished"]:
        """How the search ends: the limit is between the bounds, above or below all; or not yet."""
        if self.left is not None:
            return "unfinished"
        if self.low is None:
            return "below"
        return "beyond" if self.high is None else "found"


@dataclass(frozen=True, slots=True)
class Search:
    """One search of a plan: its cases have all in common but rate and repeat.

    ``case`` is any of them, ``place`` the search's number among those of the plan, from 1.
    """

    plan: SearchPlan
    case: Case
    repeats: int
    place: int
    key: str = field(init=False)
    """What its cases have in common, as an id."""

    def __post_init__(self) -> None:
        """Find the key."""
        object.__setattr__(self, "key", key(self.case))

    def at(self, rate: float, repeat: int) -> Case:
        """The case at a rate."""
        number = int(rate) if float(rate).is_integer() else rate
        parameters = {**self.case.parameters, RATE: number}
        return self.case.model_copy(update={"parameters": parameters, "repeat": repeat})

    def next(self, verdicts: Verdicts) -> Case | None:
        """The case to run next; None when the search has ended."""
        left = self.plan.tried(verdicts, self.repeats).left
        return None if left is None else self.at(*left)

    def covers(self, case: Case) -> bool:
        """Whether this search may ask for the case."""
        rate = case.parameters.get(RATE)
        within = isinstance(rate, int | float) and (
            self.plan.from_msg_s <= rate <= self.plan.to_msg_s
        )
        return within and case.repeat <= self.repeats + AGAIN and key(case) == self.key

    def longest(self) -> Iterator[Case]:
        """As many cases as the search takes at most, to foresee its time."""
        for _ in range(self.plan.most_runs(self.repeats)):
            yield self.case


def key(case: Case) -> str:
    """What the cases of one search have in common, as an id."""
    rest = {name: value for name, value in case.parameters.items() if name != RATE}
    return case.model_copy(update={"parameters": rest}).point


def rate_and_repeat(case: Case) -> tuple[float, int]:
    """Where in a search a case stands."""
    return float(case.parameters[RATE]), case.repeat


def at_rate(rate: float | None, verdicts: Verdicts) -> list[bool | None]:
    """Whether the runs at a rate held, as they are counted."""
    return [verdict.counted for (offered, _), verdict in verdicts.items() if offered == rate]


def deciding(verdicts: Verdicts) -> list[tuple[float, Verdict]]:
    """Runs with their rates: those that others disturbed only where all at their rate were."""
    quiet = {rate for (rate, _), verdict in verdicts.items() if not verdict.disturbed}
    return [
        (rate, verdict)
        for (rate, _), verdict in verdicts.items()
        if not verdict.disturbed or rate not in quiet
    ]


def by_most(outcomes: Sequence[bool | None], repeats: int) -> bool | None:
    """Whether most repeats hold, as soon as that is certain; half of them are not most."""
    if 2 * outcomes.count(True) > repeats:
        return True
    return False if 2 * outcomes.count(False) >= repeats else None


def _decided(rate: float, verdicts: Verdicts, repeats: int) -> bool | None:
    """The same of a rate; where further runs were disturbed as well, by most of all runs."""
    counted = at_rate(rate, verdicts)
    held = by_most(counted, repeats)
    if held is None and len(counted) == repeats + AGAIN:
        every = [verdict.holds for (offered, _), verdict in verdicts.items() if offered == rate]
        return by_most(every, len(every))
    return held


def _next(rate: float, verdicts: Verdicts, repeats: int) -> int | None:
    """The repeat to run next at the rate; None when enough of them count, or none is left."""
    counted = at_rate(rate, verdicts)
    if len(counted) - counted.count(None) >= repeats:
        return None
    every = range(1, repeats + AGAIN + 1)
    return next((repeat for repeat in every if (rate, repeat) not in verdicts), None)

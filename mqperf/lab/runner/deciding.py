"""What plans with ``decide`` run next: turn after turn, the points of comparisons still open."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from mqperf.base.errors import PlanError, RecordError
from mqperf.base.one_line import amount
from mqperf.plan import MOST, Case, Comparison, DecidePlan, Decision, Plan, compared
from mqperf.record import pending, runs

BESIDE_S = 5.0
"""Seconds that a run takes beside its load, until runs have shown how many."""

Decider = Callable[[Sequence[Plan], Sequence[Path]], Sequence[Decision]]
"""What the runs in the folders of plans say of what these compare; the runner reads no figures."""

Turn = tuple[int, str, list[Case]]
"""The place of a plan, a repeat in words, and its cases."""


@dataclass(slots=True)
class Deciding:
    """The comparisons of a plan over its folder, or of two plans, each over its own.

    ``places`` are those of the plans among all that are run.  A comparison of which a run failed
    rests until the next command, as each case is tried once.  Time is that of the whole runs which
    are in the folders at first, and all that passes from then.
    """

    places: Sequence[int]
    plans: Sequence[Plan]
    folders: Sequence[Path]
    decider: Decider
    tell: Callable[[str], None]
    _comparisons: Sequence[Comparison] = ()
    _known: Sequence[Decision] = ()
    _tried: set[tuple[int, str]] = field(default_factory=set)
    _begun: float | None = None
    _before_s: float = 0.0
    _loads_s: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Look at what is there."""
        self._comparisons = compared(self.plans)
        self._known = [Decision("open", 0)] * len(self._comparisons)
        for run in (run for folder in self.folders if folder.exists() for run in runs(folder)):
            with suppress(RecordError, ValueError):  # of one that cannot be read, as audit says
                facts = run.facts()
                if run.status == "done" and facts.case and facts.started and facts.stopped:
                    spent = datetime.fromisoformat(facts.stopped) - datetime.fromisoformat(
                        facts.started
                    )
                    self._before_s += spent.total_seconds()
                    self._loads_s.append(facts.case.load_s)

    def turns(self) -> Iterator[Turn]:
        """Each turn of a plan, until all is decided or the time is up."""
        self._begun = time.monotonic()
        while turn := self._next():
            side, cases = turn
            self._tried |= {(side, case.id) for case in cases}
            self._loads_s += [case.load_s for case in cases]
            yield self.places[side], f"repeat {cases[0].repeat}", cases
        self.conclude()

    def order(self, side: int) -> list[Case]:
        """The first turn of a plan that has something to run; nothing where all is decided."""
        if self._next() is None:
            return []
        return next(filter(None, (self._left(side, turn) for turn in range(1, MOST + 1))), [])

    def longest(self) -> Iterator[Case]:
        """As many cases as there may be still, by their loads and the time."""
        left_s = self._rule.within_s - self._spent_s()
        for repeat in range(1, MOST + 1):
            for side in self._sides(repeat):
                for case in self._left(side, repeat):
                    if repeat <= self._first or self._open(side, case):
                        left_s -= case.load_s + self._beside_s()
                        if repeat <= self._first or left_s > 0:
                            yield case

    def conclude(self) -> None:
        """Tell what is left open, and what would decide it."""
        for comparison, decision in self._both():
            if decision.outcome == "open":
                needed = decision.needed
                more = f"; about {needed} repeats would decide it" if needed else ""
                state = f"{decision.words(self._rule.difference)}{more}"
                self.tell(
                    f"open after {amount(decision.repeats, 'repeat')}: {comparison.words}: {state}"
                )

    def _next(self) -> tuple[int, list[Case]] | None:
        """The plan whose turn is next, and its cases that have no whole run and were not tried."""
        for repeat in range(1, self._first + 1):
            for side in self._sides(repeat):
                if cases := self._left(side, repeat):
                    return side, cases
        self._look()
        again = {
            (point, decision.repeats + 1)
            for comparison, decision in self._both()
            if decision.outcome == "open" and decision.repeats < MOST
            for point in comparison.points
        }
        for repeat in sorted({repeat for _, repeat in again}):
            left = {
                side: [
                    case
                    for case in self._left(side, repeat)
                    if ((side, case.point), repeat) in again
                ]
                for side in self._sides(repeat)
            }
            turns = [(side, cases) for side, cases in left.items() if cases]
            if turns and self._in_time([case for _, cases in turns for case in cases]):
                return turns[0]
        return None

    @property
    def _rule(self) -> DecidePlan:
        rule = self.plans[0].decide
        assert rule is not None  # noqa: S101
        return rule

    @property
    def _first(self) -> int:
        """Repeats of every point before anything can be decided."""
        return max(plan.first_repeats for plan in self.plans)

    def _sides(self, repeat: int) -> Sequence[int]:
        """The plans in the order of their turns: every other repeat has it the other way round."""
        return range(len(self.plans)) if repeat % 2 else range(len(self.plans))[::-1]

    def _open(self, side: int, case: Case) -> bool:
        """Whether a comparison of the case's point is still open, and has not had this repeat."""
        return any(
            decision.outcome == "open"
            and case.repeat > decision.repeats
            and (side, case.point) in comparison.points
            for comparison, decision in self._both()
        )

    def _both(self) -> Iterator[tuple[Comparison, Decision]]:
        """Each comparison with what is known of it."""
        return zip(self._comparisons, self._known, strict=True)

    def _look(self) -> None:
        """Ask for decisions, and tell of those that are new."""
        former = self._known
        self._known = self.decider(self.plans, self.folders)
        for (comparison, decision), before in zip(self._both(), former, strict=True):
            if decision.outcome != before.outcome:
                result = decision.words(self._rule.difference)
                after = f"decided after {decision.repeats} repeats"
                self.tell(f"{after}: {comparison.words}: {result}")

    def _left(self, side: int, repeat: int) -> list[Case]:
        """Cases of a repeat that have no whole run, and were not tried by this command."""
        cases = pending(self.folders[side], self.plans[side].turn(repeat))
        return [case for case in cases if (side, case.id) not in self._tried]

    def _spent_s(self) -> float:
        return self._before_s + (time.monotonic() - self._begun if self._begun else 0.0)

    def _beside_s(self) -> float:
        """What each run has taken beside its load so far, starts of systems included."""
        if not self._loads_s:
            return BESIDE_S
        return max(0.0, self._spent_s() - sum(self._loads_s)) / len(self._loads_s)

    def _in_time(self, cases: Sequence[Case]) -> bool:
        """Whether they are expected to end in time."""
        coming_s = sum(case.load_s + self._beside_s() for case in cases)
        return self._spent_s() + coming_s <= self._rule.within_s


def together(plans: Sequence[Plan]) -> Iterator[list[int]]:
    """Places of the plans that decide something: each one alone, or the two that it is between.

    Raises ``PlanError`` where the other is not there, says something else, or has other points.
    """
    places = {plan.name: place for place, plan in enumerate(plans)}
    for plan in plans:
        if (rule := plan.decide) is None:
            continue
        names = rule.plans or (plan.name,)
        if not {plan.name} <= {*names} <= {*places}:
            raise PlanError(
                f"plan {plan.name} decides between {' and '.join(names)}: run these together"
            )
        sides = [plans[places[name]] for name in names]
        if any(side.decide != rule for side in sides):
            raise PlanError(f"plans {' and '.join(names)} are to say the same in decide")
        if not compared(sides):
            raise PlanError(f"plans {' and '.join(names)} have no point in common to be compared")
        if plan.name == names[0]:
            yield [places[name] for name in names]

"""The next runs of plans with ``decide``: in each turn the points of open comparisons."""

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

FIRST_OVERHEAD_S = 5.0
"""Estimate of the seconds that a run takes in addition to its load, before the first run."""

Decider = Callable[[Sequence[Plan], Sequence[Path]], Sequence[Decision]]
"""Decides the comparisons of plans from the runs in their folders; the runner reads no figures."""

Turn = tuple[int, str, list[Case]]
"""Index of a plan, description of a repeat, and its cases."""


@dataclass(slots=True)
class Deciding:
    """The comparisons of a plan over its folder, or of two plans, each over its own.

    ``places`` are the indexes of these plans among all plans that are run.  A comparison with a
    failed run is not continued before the next command, as each case is tried once.  The time spent
    is the sum of the whole runs in the folders at first, and all time from the first turn on.
    """

    places: Sequence[int]
    plans: Sequence[Plan]
    folders: Sequence[Path]
    decider: Decider
    tell: Callable[[str], None]
    _comparisons: Sequence[Comparison] = ()
    _latest: Sequence[Decision] = ()
    _tried: set[tuple[int, str]] = field(default_factory=set)
    _started_at: float | None = None
    _earlier_s: float = 0.0
    _loads_s: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Read the time and the load of the whole runs in the folders."""
        self._comparisons = compared(self.plans)
        self._latest = [Decision("open", 0)] * len(self._comparisons)
        for run in (run for folder in self.folders if folder.exists() for run in runs(folder)):
            with suppress(RecordError, ValueError):  # unreadable runs, which audit reports
                facts = run.facts()
                if run.status == "done" and facts.case and facts.started and facts.stopped:
                    spent = datetime.fromisoformat(facts.stopped) - datetime.fromisoformat(
                        facts.started
                    )
                    self._earlier_s += spent.total_seconds()
                    self._loads_s.append(facts.case.load_s)

    def turns(self) -> Iterator[Turn]:
        """Yield each turn of a plan until everything is decided or the time is up."""
        self._started_at = time.monotonic()
        while turn := self._next_turn():
            side, cases = turn
            self._tried |= {(side, case.id) for case in cases}
            self._loads_s += [case.load_s for case in cases]
            yield self.places[side], f"repeat {cases[0].repeat}", cases
        self.conclude()

    def order(self, side: int) -> list[Case]:
        """Return the first turn of a plan with pending cases; empty where all is decided."""
        if self._next_turn() is None:
            return []
        return next(filter(None, (self._untried(side, turn) for turn in range(1, MOST + 1))), [])

    def longest(self) -> Iterator[Case]:
        """Yield the maximum of cases still to run, limited by their loads and the time left."""
        left_s = self._rule.within_s - self._spent_s()
        for repeat in range(1, MOST + 1):
            for side in self._sides(repeat):
                for case in self._untried(side, repeat):
                    if repeat <= self._first_repeats or self._is_open(side, case):
                        left_s -= case.load_s + self._overhead_s()
                        if repeat <= self._first_repeats or left_s > 0:
                            yield case

    def conclude(self) -> None:
        """Report what remains open, and how many repeats would decide it."""
        for comparison, decision in self._decisions():
            if decision.outcome == "open":
                number = f"about {decision.needed}" if decision.needed else f"not even {MOST}"
                state = f"{decision.words(self._rule.difference)}; {number} repeats would decide it"
                self.tell(
                    f"open after {amount(decision.repeats, 'repeat')}: {comparison.words}: {state}"
                )

    def _next_turn(self) -> tuple[int, list[Case]] | None:
        """Return the plan whose turn is next, and its pending cases; None when there is none."""
        for repeat in range(1, self._first_repeats + 1):
            for side in self._sides(repeat):
                if cases := self._untried(side, repeat):
                    return side, cases
        self._update_decisions()
        open_repeats = {
            (point, decision.repeats + 1)
            for comparison, decision in self._decisions()
            if decision.outcome == "open" and decision.repeats < MOST
            for point in comparison.points
        }
        for repeat in sorted({repeat for _, repeat in open_repeats}):
            cases_by_side = {
                side: [
                    case
                    for case in self._untried(side, repeat)
                    if ((side, case.point), repeat) in open_repeats
                ]
                for side in self._sides(repeat)
            }
            turns = [(side, cases) for side, cases in cases_by_side.items() if cases]
            if turns and self._in_time([case for _, cases in turns for case in cases]):
                return turns[0]
        return None

    @property
    def _rule(self) -> DecidePlan:
        rule = self.plans[0].decide
        assert rule is not None  # noqa: S101
        return rule

    @property
    def _first_repeats(self) -> int:
        """Repeats of every point before the first decision."""
        return max(plan.first_repeats for plan in self.plans)

    def _sides(self, repeat: int) -> Sequence[int]:
        """Return the plans in the order of their turns, reversed in every other repeat."""
        return range(len(self.plans)) if repeat % 2 else range(len(self.plans))[::-1]

    def _is_open(self, side: int, case: Case) -> bool:
        """Return whether a comparison of the case's point is open and lacks this repeat."""
        return any(
            decision.outcome == "open"
            and case.repeat > decision.repeats
            and (side, case.point) in comparison.points
            for comparison, decision in self._decisions()
        )

    def _decisions(self) -> Iterator[tuple[Comparison, Decision]]:
        """Return pairs of each comparison and its latest decision."""
        return zip(self._comparisons, self._latest, strict=True)

    def _update_decisions(self) -> None:
        """Ask the decider again, and report new decisions."""
        former = self._latest
        self._latest = self.decider(self.plans, self.folders)
        for (comparison, decision), previous in zip(self._decisions(), former, strict=True):
            if decision.outcome != previous.outcome:
                result = decision.words(self._rule.difference)
                after = f"decided after {decision.repeats} repeats"
                self.tell(f"{after}: {comparison.words}: {result}")

    def _untried(self, side: int, repeat: int) -> list[Case]:
        """Return the cases of a repeat without a whole run that this command has not tried."""
        cases = pending(self.folders[side], self.plans[side].turn(repeat))
        return [case for case in cases if (side, case.id) not in self._tried]

    def _spent_s(self) -> float:
        return self._earlier_s + (time.monotonic() - self._started_at if self._started_at else 0.0)

    def _overhead_s(self) -> float:
        """Return the mean time per run in addition to its load, starts of systems included."""
        if not self._loads_s:
            return FIRST_OVERHEAD_S
        return max(0.0, self._spent_s() - sum(self._loads_s)) / len(self._loads_s)

    def _in_time(self, cases: Sequence[Case]) -> bool:
        """Return whether the cases are expected to end in time."""
        coming_s = sum(case.load_s + self._overhead_s() for case in cases)
        return self._spent_s() + coming_s <= self._rule.within_s


def together(plans: Sequence[Plan]) -> Iterator[list[int]]:
    """Yield the indexes of plans with ``decide``: one alone, or the two that are compared.

    Raises ``PlanError`` where the other plan is missing, has another ``decide``, or other points.
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
            raise PlanError(f"plans {' and '.join(names)} need the same decide")
        if not compared(sides):
            raise PlanError(f"plans {' and '.join(names)} have no point in common to be compared")
        if plan.name == names[0]:
            yield [places[name] for name in names]

"""What a plan with ``decide`` runs next: turn after turn, the points of comparisons still open."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from mqperf.base.errors import RecordError
from mqperf.base.one_line import amount
from mqperf.plan import MOST, Case, Comparison, DecidePlan, Decision, Plan
from mqperf.record import pending, runs

BESIDE_S = 5.0
"""Seconds that a run takes beside its load, until runs have shown how many."""

Decider = Callable[[Plan, Path], Sequence[Decision]]
"""What the runs in a folder say of each comparison of a plan; the runner reads no figures."""


@dataclass(slots=True)
class Deciding:
    """The comparisons of a plan over one folder.

    A comparison of which a run failed rests until the next command, as each case is tried once.
    Time is that of the whole runs which are in the folder at first, and all that passes from then.
    """

    plan: Plan
    folder: Path
    decider: Decider
    tell: Callable[[str], None]
    _comparisons: Sequence[Comparison] = ()
    _known: Sequence[Decision] = ()
    _tried: set[str] = field(default_factory=set)
    _begun: float | None = None
    _before_s: float = 0.0
    _loads_s: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Look at what is there."""
        self._comparisons = self.plan.comparisons()
        self._known = [Decision("open", 0)] * len(self._comparisons)
        for run in runs(self.folder) if self.folder.exists() else ():
            with suppress(RecordError, ValueError):  # of one that cannot be read, as audit says
                facts = run.facts()
                if run.status == "done" and facts.case and facts.started and facts.stopped:
                    spent = datetime.fromisoformat(facts.stopped) - datetime.fromisoformat(
                        facts.started
                    )
                    self._before_s += spent.total_seconds()
                    self._loads_s.append(facts.case.load_s)

    def turns(self) -> Iterator[tuple[str, list[Case]]]:
        """Each turn in words, and its cases, until all is decided or the time is up."""
        self._begun = time.monotonic()
        while cases := self.next():
            self._tried |= {case.id for case in cases}
            self._loads_s += [case.load_s for case in cases]
            yield f"repeat {cases[0].repeat}", cases
        self.conclude()

    def next(self) -> list[Case]:
        """The cases of the next turn that have no whole run, and were not tried already."""
        for turn in range(1, self.plan.first_repeats + 1):
            if cases := self._left(self.plan.turn(turn)):
                return cases
        self._look()
        again = {
            (point, decision.repeats + 1)
            for comparison, decision in self._both()
            if decision.outcome == "open" and decision.repeats < MOST
            for point in comparison.points
        }
        for turn in sorted({repeat for _, repeat in again}):
            wanted = [case for case in self.plan.turn(turn) if (case.point, turn) in again]
            if (cases := self._left(wanted)) and self._in_time(cases):
                return cases
        return []

    def longest(self) -> Iterator[Case]:
        """As many cases as there may be still, by their loads and the time."""
        first = self.plan.first_repeats
        turns = (self.plan.turn(turn) for turn in range(1, MOST + 1))
        left = (case for cases in turns for case in self._left(cases))
        left_s = self._decide.within_s - self._spent_s()
        for case in left:
            if case.repeat <= first or self._open(case):
                left_s -= case.load_s + self._beside_s()
                if case.repeat <= first or left_s > 0:
                    yield case

    @property
    def _decide(self) -> DecidePlan:
        assert self.plan.decide is not None  # noqa: S101
        return self.plan.decide

    def _open(self, case: Case) -> bool:
        """Whether a comparison of the case's point is still open, and has not had this repeat."""
        return any(
            decision.outcome == "open"
            and case.repeat > decision.repeats
            and case.point in comparison.points
            for comparison, decision in self._both()
        )

    def _both(self) -> Iterator[tuple[Comparison, Decision]]:
        """Each comparison with what is known of it."""
        return zip(self._comparisons, self._known, strict=True)

    def _look(self) -> None:
        """Ask for decisions, and tell of those that are new."""
        former, self._known = self._known, self.decider(self.plan, self.folder)
        for (comparison, decision), before in zip(self._both(), former, strict=True):
            if decision.outcome != before.outcome:
                words = decision.words(self._decide.difference)
                after = f"decided after {decision.repeats} repeats"
                self.tell(f"{after}: {comparison.words}: {words}")

    def _left(self, cases: Sequence[Case]) -> list[Case]:
        """Those that have no whole run, and were not tried by this command."""
        return [case for case in pending(self.folder, cases) if case.id not in self._tried]

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
        return self._spent_s() + coming_s <= self._decide.within_s

    def conclude(self) -> None:
        """Tell what is left open, and what would decide it."""
        for comparison, decision in self._both():
            if decision.outcome == "open":
                needed = (
                    f"; about {decision.needed} repeats would decide it" if decision.needed else ""
                )
                words = f"{decision.words(self._decide.difference)}{needed}"
                self.tell(
                    f"open after {amount(decision.repeats, 'repeat')}: {comparison.words}: {words}"
                )

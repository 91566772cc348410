"""What a sweep runs next: its pending cases as listed, or what its searches ask for by results."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mqperf.plan import Case, Hold, Search, Verdict, rate_and_repeat
from mqperf.plan.test_cases import unit_of
from mqperf.record import Run, runs

Judge = Callable[[Hold, Run], Verdict]
"""Says whether a whole run holds what is asked; whoever reads runs has one, the runner has none."""

Tell = Callable[[str], None]


@dataclass(slots=True)
class Searching:
    """The searches of a plan over one folder.

    What was judged is kept, so that every run is read once; a search whose case failed, or whose
    run does not say whether it holds, rests until the next command.
    """

    searches: Sequence[Search]
    judge: Judge
    tell: Tell
    _verdicts: dict[str, dict[tuple[float, int], Verdict]] = field(default_factory=dict)

    def begin(self, folder: Path) -> list[Case]:
        """What every search runs next, after all whole runs that are in the folder."""
        for run in runs(folder) if folder.exists() else ():
            if run.status == "done" and (case := run.known_case()) is not None:
                self._judged(case, run)
        return [case for search in self.searches if (case := self._next(search)) is not None]

    def following(self, case: Case, run: Run) -> Case | None:
        """What the search of a case runs after it; nothing when it has ended, or cannot go on."""
        judged = self._judged(case, run)
        if judged is None:
            return None
        search, verdict = judged
        rate, _ = rate_and_repeat(case)
        held = {True: "holds", False: "does not hold", None: "cannot be judged"}[verdict.holds]
        held += " while others used the host" if verdict.disturbed else ""
        outcome = f"{rate:g} {unit_of(case.test_case)}/sec {held}"
        self.tell(f"search for {search.plan.hold.words}: {outcome}: {verdict.text}")
        return None if verdict.holds is None else self._next(search)

    def left(self, search: Search) -> Iterator[Case]:
        """As many cases as a search still takes at most."""
        done = len(self._verdicts.get(search.key, ()))
        if self._next(search) is not None:
            yield from [*search.longest()][done:] or [search.case]

    def _judged(self, case: Case, run: Run) -> tuple[Search, Verdict] | None:
        search = next((candidate for candidate in self.searches if candidate.covers(case)), None)
        if search is None:
            return None
        verdict = self.judge(search.plan.hold, run)
        if verdict.holds is not None:
            self._verdicts.setdefault(search.key, {})[rate_and_repeat(case)] = verdict
        return search, verdict

    def _next(self, search: Search) -> Case | None:
        return search.next(self._verdicts.get(search.key, {}))

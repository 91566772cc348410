"""The next cases of the searches of a plan, which follow from the results of its runs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mqperf.plan import Case, Hold, Search, Verdict, rate_and_repeat
from mqperf.plan.test_cases import unit_of
from mqperf.record import Run, runs

Judge = Callable[[Hold, Run], Verdict]
"""Evaluates whether a whole run meets the criterion; given to the runner, which reads no runs."""

Tell = Callable[[str], None]


@dataclass(slots=True)
class Searching:
    """The searches of a plan over one folder.

    Verdicts are kept, so that every run is read once; a search whose case failed, or whose run
    cannot be judged, is not continued before the next command.
    """

    searches: Sequence[Search]
    judge: Judge
    tell: Tell
    _verdicts: dict[str, dict[tuple[float, int], Verdict]] = field(default_factory=dict)

    def begin(self, folder: Path) -> list[Case]:
        """Return the next case of every search, after all whole runs in the folder."""
        for run in runs(folder) if folder.exists() else ():
            if run.status == "done" and (case := run.known_case()) is not None:
                self._judge(case, run)
        return [case for search in self.searches if (case := self._next(search)) is not None]

    def following(self, case: Case, run: Run) -> Case | None:
        """Return the case after this one in its search; None when that has ended or is blocked."""
        judged = self._judge(case, run)
        if judged is None:
            return None
        search, verdict = judged
        rate, _ = rate_and_repeat(case)
        result = {True: "holds", False: "does not hold", None: "cannot be judged"}[verdict.holds]
        result += " while others used the host" if verdict.disturbed else ""
        outcome = f"{rate:g} {unit_of(case.test_case)}/sec {result}"
        self.tell(f"search for {search.plan.hold.words}: {outcome}: {verdict.text}")
        return None if verdict.holds is None else self._next(search)

    def left(self, search: Search) -> Iterator[Case]:
        """Yield the maximum of cases that a search still takes."""
        done = len(self._verdicts.get(search.key, ()))
        if self._next(search) is not None:
            yield from [*search.longest()][done:] or [search.case]

    def _judge(self, case: Case, run: Run) -> tuple[Search, Verdict] | None:
        search = next((candidate for candidate in self.searches if candidate.covers(case)), None)
        if search is None:
            return None
        verdict = self.judge(search.plan.hold, run)
        if verdict.holds is not None:
            self._verdicts.setdefault(search.key, {})[rate_and_repeat(case)] = verdict
        return search, verdict

    def _next(self, search: Search) -> Case | None:
        return search.next(self._verdicts.get(search.key, {}))

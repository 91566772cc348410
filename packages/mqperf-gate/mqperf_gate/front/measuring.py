"""Runs of a plan in turns with its baseline, until it is decided whether throughput differs."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from mqperf.base.errors import MqperfError, PlanError
from mqperf.front.judging import Deciders
from mqperf.front.running import measured
from mqperf.lab.runner import Job
from mqperf.lab.systems.in_plans import problems_of
from mqperf.plan import MOST, Comparison, Decision, Plan, compared
from mqperf.plan.file import PlanFile, read_plan, with_decision
from mqperf.record import PLAN, runs

BASELINE, CANDIDATE = "baseline", "candidate"


@dataclass(frozen=True, slots=True)
class Gate:
    """The plans of both sides, the baseline first, and their folders of runs.

    A ``recorded`` baseline, which was measured before, is read and not run.
    """

    files: tuple[PlanFile, PlanFile]
    folders: tuple[Path, Path]
    recorded: bool

    @property
    def plans(self) -> list[Plan]:
        """Both plans, with what is to be decided between them."""
        return [file.plan for file in self.files]

    @property
    def difference(self) -> float:
        """The minimum relevant relative difference."""
        rule = self.files[1].plan.decide
        return rule.difference if rule else 0.0

    def decided(self) -> Iterator[tuple[Comparison, Decision]]:
        """Yield the decision on each point of the candidate that the baseline has, too."""
        decisions = Deciders()(self.plans, self.folders)
        yield from zip(compared(self.plans), decisions, strict=True)


def opened(baseline: Path, plan: Path, rule: tuple[str, float], folders: Sequence[Path]) -> Gate:
    """The gate before anything is run.

    ``rule`` is the relevant difference, such as ``5%``, and the seconds for all runs; ``folders``
    are those of new runs of both sides.  Raises ``PlanError`` where plans have no point in common,
    or have a ``decide`` of their own.
    """
    percent, budget_s = rule
    within = f"{budget_s:g} s"
    recorded = baseline.is_dir()
    if recorded and not (baseline / PLAN).is_file():
        raise MqperfError(f"{baseline}: has no {PLAN}: give a folder of runs, or a plan")
    first = _named(read_plan(baseline / PLAN if recorded else baseline, problems_of), BASELINE)
    second = _named(read_plan(plan, problems_of), CANDIDATE)
    if recorded:
        # only the runs of the baseline count, not the decision rule of its plan
        _, second = with_decision([_named(second, BASELINE), second], percent, within)
        baseline_plan = first.plan.model_copy(update={"decide": second.plan.decide})
        first = PlanFile(baseline_plan, first.text)
    else:
        first, second = with_decision([first, second], percent, within)
    if not compared([first.plan, second.plan]):
        raise PlanError(
            f"{baseline} and {plan} have no point in common: layout, test case, threads and what"
            " varies in either must be the same"
        )
    run_folders = baseline if recorded else folders[0], folders[1]
    return Gate((first, second), run_folders, recorded)


def _named(file: PlanFile, name: str) -> PlanFile:
    return PlanFile(file.plan.model_copy(update={"name": name}), file.text)


def run(gate: Gate, budget_s: float, console: Console) -> list[str]:
    """Run until all is decided, and return the reasons of failed runs.

    Both plans take turns; with a recorded baseline the candidate is run alone, with no more repeats
    than the baseline has.
    """
    if not gate.recorded:
        files = zip(gate.files, gate.folders, strict=True)
        jobs = [Job(file.plan, file.text, folder) for file, folder in files]
        return [reason for each in measured(jobs, console, None) for _, reason in each.failed]
    began, file, limit = time.monotonic(), gate.files[1], min(MOST, _last_repeat(gate.folders[0]))
    repeat = max(plan.first_repeats for plan in gate.plans)
    while True:
        plan = file.plan.model_copy(update={"decide": None, "repeats": repeat})
        [outcome] = measured([Job(plan, file.text, gate.folders[1])], console, None)
        further_s = (time.monotonic() - began) * (repeat + 1) / repeat
        undecided = any(decision.outcome == "open" for _, decision in gate.decided())
        if outcome.failed or not undecided or repeat >= limit or further_s > budget_s:
            return [reason for _, reason in outcome.failed]
        repeat += 1


def _last_repeat(folder: Path) -> int:
    """The number of the last repeat with a whole run; 0 without any."""
    cases = (run.facts().case for run in runs(folder) if run.status == "done")
    return max((case.repeat for case in cases if case), default=0)

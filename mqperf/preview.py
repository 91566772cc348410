"""What a plan would do, and how far it has got: text for people, nothing is run."""

import time
from collections.abc import Iterator
from pathlib import Path

from mqperf.load import simulator
from mqperf.plan import Case, Plan
from mqperf.progress import START_S, clock, expected_s, words
from mqperf.record import runs, utc
from mqperf.systems import SYSTEMS, check_plan


def preview(plan: Plan) -> str:
    """The cases in their order, the commands of each, the hosts, and the expected finish.

    Raises ``PlanError`` when a system does not exist or lacks a topology or kind of queue.
    """
    check_plan(plan)
    return "\n".join(_preview(plan))


def standing(plan: Plan, folder: Path) -> str:
    """One line per case of the plan: done, failed (how often) or pending; and their numbers."""
    done = {run.case_id for run in runs(folder) if run.status == "done"}
    wrecks = [run.case_id for run in runs(folder) if run.status != "done"]
    lines, numbers = [], {"done": 0, "failed": 0, "pending": 0}
    for case in plan.cases():
        attempts = wrecks.count(case.id)
        state = "done" if case.id in done else "failed" if attempts else "pending"
        numbers[state] += 1
        tries = f" ({attempts} failed attempts)" if attempts else ""
        lines.append(f"{state:8}{words(case)}{tries}")
    lines.append(", ".join(f"{number} {state}" for state, number in numbers.items()))
    return "\n".join(lines)


def _preview(plan: Plan) -> Iterator[str]:
    cases = plan.cases()
    yield f"{plan.name}: {plan.title}"
    yield f"{len(cases)} cases, order {plan.order}, on host local (everything on loopback)"
    for number, case in enumerate(cases, 1):
        yield ""
        yield f"{number}/{len(cases)}  {words(case)}"
        yield f"      {_timing(case)}, run folder {case.id}"
        yield from (f"      $ {line}" for line in simulator.describe(case))
    seconds = expected_s(cases) + START_S * len(plan.systems)
    yield ""
    yield (
        f"{', '.join(SYSTEMS[name].title for name in plan.systems)}:"
        f" about {clock(seconds)}; started now, finished at {utc(time.time() + seconds)[:16]} UTC"
    )


def _timing(case: Case) -> str:
    return (
        f"{case.green_threads} green threads x {case.processes} processes x {case.hosts} hosts,"
        f" warm-up {case.warmup_s} s, window {case.duration_s} s"
    )

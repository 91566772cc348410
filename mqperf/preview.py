"""What a plan would do, and how far it has got: text for people, nothing is run."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from mqperf.load import simulator
from mqperf.plan import Case, Plan
from mqperf.progress import START_S, amount, clock, expected_s, words
from mqperf.record import Status, runs, utc
from mqperf.systems import SYSTEMS, Possible, possible

STATES: Mapping[Status, str] = {"done": "done", "partial": "running", "failed": "failed"}
"""What an attempt's status makes of its case, the best first."""


def preview(plan: Plan) -> str:
    """The cases in their order, the commands of each, the hosts, and the expected finish.

    Raises ``PlanError`` when a system does not exist or lacks a topology or kind of queue.
    """
    return "\n".join(_preview(possible(plan)))


def standing(plan: Plan, folder: Path) -> str:
    """One line per case of the plan: done, running, failed (how often), pending; their numbers.

    An attempt that was cut off is called running until the next command sets it aside.
    """
    attempts = list(runs(folder))
    lines, numbers = [], Counter[str]()
    for case in plan.cases():
        found = Counter(run.status for run in attempts if run.case_id == case.id)
        state = next((word for status, word in STATES.items() if found[status]), "pending")
        numbers[state] += 1
        tries = f" ({amount(found['failed'], 'failed attempt')})" if found["failed"] else ""
        lines.append(f"{state:8}{words(case)}{tries}")
    words_of_all = (*STATES.values(), "pending")
    lines.append(", ".join(f"{numbers[word]} {word}" for word in words_of_all))
    return "\n".join(lines)


def _preview(here: Possible) -> Iterator[str]:
    plan, cases = here.plan, here.plan.cases()
    yield f"{plan.name}: {plan.title}"
    for system, kinds in here.kinds.items():
        for asked, kind in kinds.items():
            if asked != kind:
                yield f"{SYSTEMS[system].title}: {asked} queues are {kind} queues here"
    for (system, queues), reason in here.refused.items():
        yield f"{SYSTEMS[system].title}, {queues} queues: cannot be measured here: {reason}"
    yield f"{amount(len(cases), 'case')}, order {plan.order}, load from host local"
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
    factors = (
        amount(case.green_threads, "green thread"),
        amount(case.processes, "process", "processes"),
        amount(case.hosts, "host"),
    )
    return f"{' x '.join(factors)}, warm-up {case.warmup_s} s, window {case.duration_s} s"

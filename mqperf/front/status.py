"""Progress of a plan as text, read from its runs folder."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from mqperf.base.errors import PlanError, RecordError
from mqperf.base.one_line import amount, printable
from mqperf.base.raw import MIB
from mqperf.front.plan_words import deciding, searching, words
from mqperf.plan import Case, Plan, rate_and_repeat
from mqperf.plan.file import load_plan
from mqperf.record import PLAN, Run, Status, as_whole, holder, read_events, runs

STATES: Mapping[Status, str] = {"done": "done", "partial": "running", "failed": "failed"}
"""Status of an attempt -> state of its case, the best first."""

UNREADABLE = "unreadable"

READ_BYTES = 4 * MIB
"""Larger files are not read, as that would disturb measurements; ``audit`` reads them."""


def status(folder: Path) -> str:
    """Return a line per case of a folder's plan: done, running, failed, or pending; and totals.

    A whole run that cannot be read is called unreadable, with the reason, as far as that is known
    without reading its messages.  An interrupted attempt is called running until the next command
    sets it aside.  Raises ``PlanError`` when the folder has no valid plan.
    """
    file = folder / PLAN
    if not file.exists():
        raise PlanError(f"{folder}: no runs folder: it has no plan.yaml; give RUNS of mqperf run")
    plan = load_plan(file)
    found_runs = list(runs(folder))
    attempts = Counter((run.case_id, run.status) for run in found_runs)
    done = {run.case_id: run for run in found_runs if run.status == "done"}
    lines, numbers = [], Counter[str]()
    for case in _cases(plan, found_runs):
        name = case.id
        counts = {status: attempts[name, status] for status in STATES}
        state = next((word for status, word in STATES.items() if counts[status]), "pending")
        failures = f" ({amount(counts['failed'], 'failed attempt')})" if counts["failed"] else ""
        trouble = _trouble(done[name]) if name in done else ""
        state = UNREADABLE if trouble else state
        early = _early(done[name]) if state == STATES["done"] else ""
        numbers[state] += 1
        lines.append(f"{state:11}{words(case)}{failures}{trouble}{early}")
    states = (*STATES.values(), *([UNREADABLE] if numbers[UNREADABLE] else []), "pending")
    lines.append(", ".join(f"{numbers[state]} {state}" for state in states))
    if plan.decide is not None:
        lines.append(f"{deciding(plan)}; decisions so far: mqperf show {folder}")
    if plan.search is not None:
        lines.append(f"{searching(plan)}; results so far: mqperf show {folder}")
    if who := holder(folder):
        lines.append(f"measured now by {who}")
    return "\n".join(map(printable, lines))


def _cases(plan: Plan, attempts: Sequence[Run]) -> list[Case]:
    """Return the cases of a plan; for searches those tried, or the first one if none was."""
    searches, tried = plan.searches(), {}
    for run in attempts if searches or plan.decide else ():
        with suppress(RecordError):  # the next command reports one that cannot be read
            if (case := run.case()) is not None:
                tried[case.id] = case
    by_search = [
        sorted(filter(search.covers, tried.values()), key=rate_and_repeat) for search in searches
    ]
    begun = [case for cases in by_search for case in cases]
    firsts = zip(plan.cases(), by_search, strict=True) if searches else ()
    not_begun = [case for case, cases in firsts if not cases]
    return [*begun, *not_begun] if searches else plan.cases_beside(tried.values())


def _trouble(run: Run) -> str:
    """Return why a whole run cannot be read, or is damaged; empty if it is neither."""
    try:
        facts = run.facts()
        as_whole(run, facts)
        read_events(run.path)
        changed = run.damaged(facts, read_bytes=READ_BYTES)
    except RecordError as error:
        return f": {str(error).replace(f'{run.path.parent}/', '')}"
    return f": {', '.join(changed)}: not as recorded" if changed else ""


def _early(run: Run) -> str:
    """Return why a readable run ended early; empty if it did not."""
    failed = run.facts().condition_failed
    return f": condition failed: {failed.words}" if failed is not None else ""

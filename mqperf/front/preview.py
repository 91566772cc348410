"""What a plan would do, and how far it has got: text for people, nothing is run."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from mqperf.base.errors import PlanError, RecordError
from mqperf.base.one_line import amount, printable
from mqperf.base.raw import MIB
from mqperf.front.progress import START_S, clock, expected_s, words
from mqperf.hosts import HERE, HOSTS, lookup
from mqperf.lab.load import LAUNCHERS
from mqperf.lab.systems import SYSTEMS, starts
from mqperf.lab.systems.possible import Possible, check_places, planned, possible
from mqperf.plan import MOST, Case, Plan, rate_and_repeat
from mqperf.plan.file import load_plan
from mqperf.plan.test_cases import unit_of
from mqperf.record import Run, Status, read_events, runs, utc, whole

STATES: Mapping[Status, str] = {"done": "done", "partial": "running", "failed": "failed"}
"""What an attempt's status makes of its case, the best first."""


UNREADABLE = "unreadable"

READ_BYTES = 4 * MIB
"""Larger files are not read, so as not to disturb what is being measured: ``audit`` does."""

CASES_SHOWN = 30
COMMANDS_SHOWN = 10


def preview(
    plan: Plan, *, everything: bool = False, hosts: str | None = None, check_hosts: bool = False
) -> str:
    """The cases in their order, the commands of each, and the expected finish.

    Of many cases and commands the first are shown and the others counted, unless ``everything``
    is asked for.  ``hosts`` are others than the plan says; none but this machine is reached, and
    looked at, unless ``check_hosts``.  Raises ``PlanError`` when a system does not exist or lacks a
    topology or kind of queue, ``HostError`` for an inventory that cannot be read, and for hosts
    that cannot be reached.
    """
    kind = lookup(plan.hosts, hosts)
    seen = HOSTS[HERE] if kind.here and not check_hosts else kind
    lines = []
    if seen.here or check_hosts:
        with seen.reached() as reached:
            here = possible(plan, reached)
            if seen is kind:
                check_places(plan, reached)
    else:
        here = planned(plan, kind.clients())
        lines = [f"{kind.title} were not reached: what they have, --check-hosts tells"]
    return "\n".join(map(printable, [*lines, *_preview(here, everything=everything)]))


def status(folder: Path) -> str:
    """One line per case of a folder's plan: done, running, failed (how often), pending; their sums.

    A whole run that cannot be read is called so, with the reason, as far as that shows without
    reading its messages.  An attempt that was cut off is called running until the next command sets
    it aside.  Raises ``PlanError`` when the folder has no sound plan.
    """
    file = folder / "plan.yaml"
    if not file.exists():
        raise PlanError(f"{folder}: no runs folder, it holds no plan.yaml: give RUNS of mqperf run")
    plan = load_plan(file)
    found_runs = list(runs(folder))
    attempts = Counter((run.case_id, run.status) for run in found_runs)
    done = {run.case_id: run for run in found_runs if run.status == "done"}
    lines, numbers = [], Counter[str]()
    for case in _cases(plan, found_runs):
        name = case.id
        counts = {status: attempts[name, status] for status in STATES}
        state = next((word for status, word in STATES.items() if counts[status]), "pending")
        tries = f" ({amount(counts['failed'], 'failed attempt')})" if counts["failed"] else ""
        trouble = _trouble(done[name]) if name in done else ""
        state = UNREADABLE if trouble else state
        early = _early(done[name]) if state == STATES["done"] else ""
        numbers[state] += 1
        lines.append(f"{state:11}{words(case)}{tries}{trouble}{early}")
    words_of_all = (*STATES.values(), *([UNREADABLE] if numbers[UNREADABLE] else []), "pending")
    lines.append(", ".join(f"{numbers[word]} {word}" for word in words_of_all))
    if plan.decide is not None:
        lines.append(f"{_deciding(plan)}; what is decided: mqperf show {folder}")
    if plan.search is not None:
        lines.append(f"{_searching(plan)}; whether it has ended: mqperf tables, table searches")
    return "\n".join(map(printable, lines))


def _cases(plan: Plan, attempts: Sequence[Run]) -> list[Case]:
    """The cases of a plan; of its searches those that were tried, and the first of the others."""
    searches, tried = plan.searches(), {}
    for run in attempts if searches or plan.decide else ():
        with suppress(RecordError):  # of one that cannot be read, the next command says so
            if (case := run.case()) is not None:
                tried[case.id] = case
    by_search = [
        sorted(filter(search.covers, tried.values()), key=rate_and_repeat) for search in searches
    ]
    begun = [case for cases in by_search for case in cases]
    firsts = zip(plan.cases(), by_search, strict=True) if searches else ()
    firsts_left = [case for case, cases in firsts if not cases]
    return [*begun, *firsts_left] if searches else plan.cases_beside(tried.values())


def _searching(plan: Plan) -> str:
    """What the searches of a plan look for, and how many runs that takes."""
    search = plan.search
    if search is None:
        return ""
    return (
        f"{amount(len(plan.searches()), 'search', 'searches')} for the highest rate from"
        f" {search.from_msg_s:g} to {search.to_msg_s:g} {unit_of(*plan.test_cases)}/sec with"
        f" {search.hold.words}, to {search.within_share * 100:g} %: at most"
        f" {search.most_runs(plan.repeats)} runs each"
    )


def _deciding(plan: Plan) -> str:
    """What a plan decides, and how long that may take."""
    if plan.decide is None:
        return ""
    within = amount(len(plan.comparisons()), "comparison")
    what = f"comparisons of {' and '.join(plan.decide.plans)}" if plan.decide.plans else within
    return (
        f"{what}, each until it is known whether it"
        f" differs by {plan.decide.difference * 100:g} %: {plan.first_repeats} repeats of every"
        f" point, and more of what is open, {MOST} at most, within {plan.decide.within}"
    )


def _trouble(run: Run) -> str:
    """Why a whole run cannot be read, or not be trusted; nothing where it can."""
    try:
        facts = run.facts()
        whole(run, facts)
        read_events(run.path)
        changed = run.damaged(facts, read_bytes=READ_BYTES)
    except RecordError as error:
        return f": {str(error).replace(f'{run.path.parent}/', '')}"
    return f": {', '.join(changed)}: not as recorded" if changed else ""


def _early(run: Run) -> str:
    """Why a run that can be read ended early, if it did."""
    failed = run.facts().condition_failed
    return f": condition failed: {failed.words}" if failed is not None else ""


def _preview(here: Possible, *, everything: bool) -> Iterator[str]:
    plan, cases = here.plan, here.plan.cases()
    shown = len(cases) if everything else CASES_SHOWN
    yield f"{plan.name}: {plan.title}"
    for system, kinds in here.kinds.items():
        for asked, kind in kinds.items():
            if asked != kind:
                yield f"{SYSTEMS[system].title}: {asked} queues are {kind} queues here"
    for each in here.refused:
        title = SYSTEMS[each.system].title
        yield f"{title}, {each.queues} queues: cannot be measured here: {each.reason}"
    yield _asked(plan, cases)
    for number, case in enumerate(cases[:shown], 1):
        yield ""
        yield f"{number}/{len(cases)}  {words(case)}"
        yield f"      {_timing(case)}, run folder {case.id}"
        for action in case.actions:
            yield f"      {action.do} {action.target}, {action.at_s:g} to {action.end_s:g} s"
        yield from _link(case)
        yield from _commands(case, everything=everything)
        for beside in case.beside():
            yield f"      beside it {beside.load_words()}"
            yield from _commands(beside, everything=everything)
    if len(cases) > shown:
        yield ""
        yield f"and {amount(len(cases) - shown, 'case')} more; --all shows them"
    longest = [case for search in plan.searches() for case in search.longest()] or cases
    seconds = expected_s(longest) + START_S * len(starts(cases))
    if plan.decide is not None:
        seconds = max(seconds, plan.decide.within_s)
    yield ""
    yield (
        f"{', '.join(SYSTEMS[name].title for name in plan.systems)}:"
        f" {'at most ' if plan.search or plan.decide else ''}about {clock(seconds)};"
        f" started now, finished at {utc(time.time() + seconds)[:16]} UTC"
    )


def _asked(plan: Plan, cases: Sequence[Case]) -> str:
    """How many cases there are; of what follows from results, what comes first."""
    if purpose := _searching(plan) or _deciding(plan):
        return f"{purpose}; what comes first:"
    return f"{amount(len(cases), 'case')}, order {plan.order}"


def _link(case: Case) -> Iterator[str]:
    if (link := case.link) is None:
        return
    asked = (f"{name} {value:g}" for name, value in link.quantities.items() if value)
    yield f"      link between {' and '.join(link.between)}: {', '.join(asked) or 'as it is'}"


def _commands(case: Case, *, everything: bool) -> Iterator[str]:
    launcher = LAUNCHERS[case.generator]
    lines, prompt = launcher.describe(case), "$ " if launcher.typed else ""
    shown = len(lines) if everything else COMMANDS_SHOWN
    yield from (f"      {prompt}{line}" for line in lines[:shown])
    if len(lines) > shown:
        noun, plural = ("command", "") if launcher.typed else ("process", "processes")
        yield f"      and {amount(len(lines) - shown, noun, plural)} more; --all shows them"


def _timing(case: Case) -> str:
    factors = (
        amount(case.green_threads, "green thread"),
        amount(case.processes, "process", "processes"),
        amount(case.hosts, "host"),
    )
    return f"{' x '.join(factors)}, warm-up {case.warmup_s} s, window {case.duration_s} s"

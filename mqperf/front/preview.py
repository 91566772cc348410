"""Preview of a plan as text: what it would do; nothing is run."""

import time
from collections.abc import Iterator, Sequence

from mqperf.base.one_line import amount, printable
from mqperf.front.plan_words import START_S, clock, deciding, expected_s, searching, words
from mqperf.hosts import HERE, HOSTS, lookup
from mqperf.lab.load import LAUNCHERS
from mqperf.lab.systems import SYSTEMS, starts
from mqperf.lab.systems.possible import Possible, check_places, planned, possible
from mqperf.plan import Case, Plan
from mqperf.record import utc

CASES_SHOWN = 30
COMMANDS_SHOWN = 10


def preview(
    plan: Plan, *, everything: bool = False, hosts: str | None = None, check_hosts: bool = False
) -> str:
    """Return the cases in their order, the commands of each, and the expected finish.

    Of many cases and commands only the first are listed, unless ``everything`` is set.  ``hosts``
    replaces the hosts of the plan; only this machine is inspected, unless ``check_hosts``.  Raises
    ``PlanError`` when a system does not exist or lacks a topology or kind of queue, ``HostError``
    for an inventory that cannot be read, and for hosts that cannot be reached.
    """
    kind = lookup(plan.hosts, hosts)
    inspected = HOSTS[HERE] if kind.here and not check_hosts else kind
    lines = []
    if inspected.here or check_hosts:
        with inspected.reached() as reached:
            feasible = possible(plan, reached)
            if inspected is kind:
                check_places(plan, reached)
    else:
        feasible = planned(plan, kind.clients())
        lines = [f"{kind.title} were not contacted: --check-hosts shows what they have"]
    return "\n".join(map(printable, [*lines, *_preview(feasible, everything=everything)]))


def _preview(feasible: Possible, *, everything: bool) -> Iterator[str]:
    plan, cases = feasible.plan, feasible.plan.cases()
    shown = len(cases) if everything else CASES_SHOWN
    yield f"{plan.name}: {plan.title}"
    for system, kinds in feasible.kinds.items():
        for asked, kind in kinds.items():
            if asked != kind:
                yield f"{SYSTEMS[system].title}: {asked} queues are {kind} queues here"
    for each in feasible.refused:
        title = SYSTEMS[each.system].title
        yield f"{title}, {each.queues} queues: cannot be measured here: {each.reason}"
    yield _summary(plan, cases)
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
    seconds = duration_s(plan, cases)
    yield ""
    yield (
        f"{', '.join(SYSTEMS[name].title for name in plan.systems)}:"
        f" {'at most ' if plan.search or plan.decide else ''}about {clock(seconds)};"
        f" started now, finished at {utc(time.time() + seconds)[:16]} UTC"
    )


def duration_s(plan: Plan, cases: Sequence[Case]) -> float:
    """Return the expected seconds of a plan with starts of systems; of searches, the maximum."""
    longest = [case for search in plan.searches() for case in search.longest()] or cases
    seconds = expected_s(longest) + START_S * len(starts(cases))
    return seconds if plan.decide is None else max(seconds, plan.decide.within_s)


def _summary(plan: Plan, cases: Sequence[Case]) -> str:
    """Return number and order of cases, or the purpose of a plan whose cases depend on results."""
    if purpose := searching(plan) or deciding(plan):
        return f"{purpose}; the first cases:"
    return f"{amount(len(cases), 'case')}, order {plan.order}"


def _link(case: Case) -> Iterator[str]:
    if (link := case.link) is None:
        return
    values = (f"{name} {value:g}" for name, value in link.quantities.items() if value)
    yield f"      link between {' and '.join(link.between)}: {', '.join(values) or 'unchanged'}"


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

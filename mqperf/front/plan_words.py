"""Descriptions of plans and cases, and their expected duration."""

from collections.abc import Sequence

from mqperf.base.one_line import amount
from mqperf.plan import MOST, Case, Plan, worded
from mqperf.plan.columns import parameters
from mqperf.plan.driver import OPTIONS, SET
from mqperf.plan.load import GENERATORS
from mqperf.plan.search import AGAIN
from mqperf.plan.test_cases import unit_of

OVERHEAD_S = 2.5
"""Seconds that a case takes besides its load, until the sweep has measured them."""

START_S = 12.0
"""Seconds until the first case can begin: the system has to be started."""

LONGEST = 40
"""Most characters of the value of a parameter."""


def expected_s(cases: Sequence[Case], overhead_s: float = OVERHEAD_S) -> float:
    """Return the seconds that these cases are expected to take."""
    loads = (max(load.load_s for load in (case, *case.beside())) for case in cases)
    return sum(load_s + overhead_s for load_s in loads)


def _short(value: object) -> str:
    text = str(worded(value))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def words(case: Case) -> str:
    """Describe a case in a few words."""
    repeat = f", repeat {case.repeat}" if case.repeat > 1 else ""
    repeat += f", control run {case.control_run}" if case.control_run else ""
    threads = amount(case.threads, "thread")
    threads += f" in {case.processes} processes" if case.processes > 1 else ""
    threads += f" on each of {case.hosts} hosts" if case.hosts > 1 else ""
    link = case.link.model_dump(exclude_defaults=True) if case.link else {}
    implied = OPTIONS if SET in case.parameters else ()
    generators = [each for each in GENERATORS.values() if case.test_case in each.test_cases]
    fields = {"generator"} if len(generators) > 1 else set[str]()
    generator = case.model_dump(include=fields, exclude_defaults=True)
    stated = {**generator, **case.parameters, **link, **case.settings}
    values = (
        f"{name} {_short(stated[name])}"
        for name in parameters()
        if name in stated and name not in implied
    )
    beside = (f"beside {other.load_words()}" for other in case.beside())
    condition = [] if case.condition is None else [f"condition {case.condition}"]
    load = ", ".join([threads, *condition, *values, *beside])
    return f"{case.system} {case.topology} {case.queues}, {case.test_case}, {load}{repeat}"


def clock(seconds: float) -> str:
    """Format a duration as ``1:02:03`` or ``2:03``."""
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02d}:{second:02d}" if hours else f"{minute}:{second:02d}"


def searching(plan: Plan) -> str:
    """Describe the searches of a plan, and their number of runs; empty if there is none."""
    search = plan.search
    if search is None:
        return ""
    return (
        f"{amount(len(plan.searches()), 'search', 'searches')} for the highest rate from"
        f" {search.from_msg_s:g} to {search.to_msg_s:g} {unit_of(*plan.test_cases)}/sec with"
        f" {search.hold.words}, to {search.within_share * 100:g} %:"
        f" {search.most_runs(plan.repeats)} runs each, up to"
        f" {search.most_runs(plan.repeats + AGAIN)} if others use the host"
    )


def deciding(plan: Plan) -> str:
    """Describe the comparisons that a plan decides, and their limits; empty if there is none."""
    if plan.decide is None:
        return ""
    count = amount(len(plan.comparisons()), "comparison")
    subject = f"comparisons of {' and '.join(plan.decide.plans)}" if plan.decide.plans else count
    return (
        f"{subject}, each until it is known whether it"
        f" differs by {plan.decide.difference * 100:g} %: {plan.first_repeats} repeats of every"
        f" point, more if undecided, {MOST} at most, within {plan.decide.within}"
    )

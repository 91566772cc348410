"""What the keys of a plan have to agree on, beside what each of them may be by itself."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mqperf.plan.background import BackgroundLoad
from mqperf.plan.pace import COUNT, OFFERED, RAMP, RATE, THREAD_RATE
from mqperf.plan.values import Misplaced

if TYPE_CHECKING:
    from mqperf.plan.experiment import Plan
    from mqperf.plan.load_plan import LoadPlan

MAX_CASES = 10_000
"""Cases of a plan."""

MAX_THREADS = 100_000
"""Green threads of a case, over all its processes."""


def agree(plan: "Plan") -> None:
    """Raise ``Misplaced`` for the first keys that do not agree."""
    for check in AGREEMENTS:
        check(plan)


def too_many_threads(load: "LoadPlan", background: Sequence[BackgroundLoad]) -> str | None:
    """What is wrong when a case has more of them than are allowed, over all its hosts."""
    hosts = max(load.hosts)
    measured = max(load.green_threads) * max(load.processes) * hosts
    beside = sum(other.threads for other in background) * hosts
    if measured + beside <= MAX_THREADS:
        return None
    over = f" over {hosts} client hosts" if hosts > 1 else ""
    return (
        f"a case has {measured + beside:,} green threads{over},"
        f" {beside:,} of them in the background,"
        f" at most {MAX_THREADS:,} are allowed: lower load or background"
    )


def _inside(plan: "Plan") -> None:
    """Actions end within the window, and those of a link have one."""
    for around in plan.surroundings:
        for place, action in enumerate(around.actions):
            where = (*plan.place_of("actions", around), place)
            if action.link and None in around.links:
                raise Misplaced(
                    where,
                    f"{action.do} is done to the link, and the plan has none: say link:, and"
                    " between which roles",
                )
            if action.end_s > (window := min(plan.load.duration_s)):
                raise Misplaced(
                    (*where, "for_s"),
                    f"{action.do} of {action.target} ends {action.end_s:g} s after the start of"
                    f" a window of {window} s: lengthen load.duration_s, so that the"
                    " recovery is measured, too",
                )


def _may_end(plan: "Plan") -> None:
    """What ends early has nothing beside it."""
    ending = {("fail_when",): plan.fail_when, ("load", COUNT): plan.load.parameters.get(COUNT)}
    why = next((where for where, value in ending.items() if value is not None), None)
    if why and any(around.background or around.actions for around in plan.surroundings):
        raise Misplaced(
            why,
            "a run with a background load or actions cannot end early: leave out"
            f" {'.'.join(why)}, or these",
        )


def _enough_for_all(plan: "Plan") -> None:
    """A count is one of the measured load, and gives every thread something to send."""
    for around in plan.surroundings:
        for place, beside in enumerate(around.background):
            if COUNT in beside.parameters:
                raise Misplaced(
                    (*plan.place_of("background", around), place, COUNT),
                    f"a background load lasts as long as the run: leave out its {COUNT}",
                )
    load = plan.load
    counts = load.parameters.get(COUNT, ())
    least = min((count for count in counts if isinstance(count, int)), default=0)
    threads = max(load.green_threads) * max(load.processes) * max(load.hosts)
    if 0 < least < threads:
        raise Misplaced(
            ("load", COUNT),
            f"{least} leaves some of {threads} threads without a message: raise it, or lower"
            " green_threads",
        )


def _share_of_a_rate(plan: "Plan") -> None:
    """A share of the throughput is one of a rate that stays."""
    if plan.fail_when is None or not plan.fail_when.throughput_share:
        return
    parameters = plan.load.parameters
    paced = RATE in parameters or THREAD_RATE in parameters or plan.search is not None
    if not paced or RAMP in parameters:
        raise Misplaced(
            ("fail_when", "throughput_share"),
            f"it is a share of an offered rate that stays: say load.{RATE} and no {RAMP}, or"
            " fail_when.throughput_msg_s",
        )


def _searchable(plan: "Plan") -> None:
    """A search sets the rate, and the order of its runs."""
    if plan.search is None:
        return
    for name in OFFERED:
        if name in plan.load.parameters:
            text = f"a search sets {RATE} itself: leave out load.{name}, or search"
            raise Misplaced(("load", name), text)
    if plan.control_runs:
        text = "a search has no control runs: leave out control_runs, or search"
        raise Misplaced(("control_runs",), text)
    if plan.order != "listed":
        text = "a search orders its runs itself: leave out order, or search"
        raise Misplaced(("order",), text)


def _within_thread_limit(plan: "Plan") -> None:
    """A case has no more threads than are allowed."""
    for around in plan.surroundings:
        if problem := too_many_threads(plan.load, around.background):
            raise Misplaced(("load", "green_threads"), problem)


def _finite(plan: "Plan") -> None:
    """A plan has no more cases than are allowed."""
    number = plan.number_of_cases
    if number > MAX_CASES:
        raise Misplaced(
            ("load",),
            f"{number:,} cases, a plan may have at most {MAX_CASES:,}:"
            " shorten its lists or repeats, or split it into several plans",
        )


def _decidable(plan: "Plan") -> None:
    """What is to be decided can be: there is something to compare, by throughput, in time."""
    if plan.decide is None:
        return
    if plan.search is not None:
        text = "a search orders its runs itself: leave out decide, or search"
        raise Misplaced(("decide",), text)
    for name in OFFERED:
        if name in plan.load.parameters and RAMP not in plan.load.parameters:
            text = (
                f"throughput is compared, which a rate fixes: leave out load.{name}, or have it"
                f" grow to load.{RAMP}; or leave out decide"
            )
            raise Misplaced(("load", name), text)
    for name, other in {"control_runs": False, "order": "listed"}.items():
        if getattr(plan, name) != other:
            text = f"what is to be decided orders its runs itself: leave out {name}, or decide"
            raise Misplaced((name,), text)
    if not (plan.decide.plans or plan.comparisons()):
        raise Misplaced(
            ("decide",),
            "there is nothing to compare: name several systems, kinds of queue or topologies,"
            " or several words of an option",
        )
    least_s = sum(case.load_s for case in plan.cases())
    if least_s > plan.decide.within_s:
        raise Misplaced(
            ("decide", "within"),
            f"{plan.first_repeats} repeats of all points take {least_s / 60:.1f} min already:"
            " raise it, or shorten load.duration_s",
        )


AGREEMENTS: Sequence[Callable[["Plan"], None]] = (
    _inside,
    _may_end,
    _enough_for_all,
    _share_of_a_rate,
    _searchable,
    _within_thread_limit,
    _finite,
    _decidable,
)
"""Each raises ``Misplaced`` for keys that do not agree; the first that does counts."""
